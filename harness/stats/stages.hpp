#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "stats/change.hpp"
#include "stats/student.hpp"

namespace dlbench::stats {

/// A comparison in stages: a coarse look at few processes a side, then more, look by look, until
/// the scatter seen so far says that there are enough.
///
/// A look tells only how many to go on to, and that from the scatter within the sides, which knows
/// nothing of how far they lie apart. What looks slow early is not called so early: nothing is
/// looked for twice. Only a cell that is surely the same is left.
struct Stages {
  std::size_t coarse = 6;
  std::size_t most = 60;
  std::size_t looks = 5;
  double threshold = 0.05;  ///< the change that shall be seen, relative
};

/// How many a side find, in 99 of 100 cases, a change of this size, relative, where their p must be
/// below `level`, among processes whose scatter is known to be `spread` from so many degrees of
/// freedom: a scatter that few processes show may be that small by chance.
std::size_t processes_to_see(double change, double spread, double degrees_of_freedom, double level,
                             Quantiles& quantiles);

/// The least number of processes a side that see such a change in 99 of 100 cases, if they scatter
/// by `spread`; none where kMostReplicas are too few.
inline constexpr std::size_t kMostReplicas = 1000;
std::optional<std::size_t> replicas_to_see(double change, double spread, double level);

/// One look at a cell: the ratio's 95 % interval and the processes of each side.
struct Look {
  double lo = 1, hi = 1;
  std::size_t first = 0, second = 0;
};

/// How many processes a side to go on to; as many as there are where they are enough, or all that
/// there may be. By the interval's width, which a single disturbed process does not stretch, as it
/// does a standard deviation.
std::size_t next_look(const Look& seen, const Stages& stages, double level, Quantiles& quantiles);

/// What came of many comparisons of one cell, of each so many in a hundred.
struct Power {
  double slow = 0, fast = 0, same = 0, ambig = 0;  ///< shares
  double processes = 0;                            ///< a side, in the mean
  double most = 0;
};

/// Comparisons in stages between neighbours of a record: medians of processes that ran one after
/// another, of which each pair is dealt to base and head by chance, as `compare` deals them, so
/// that what drifts in the record drifts in the comparison. Head's are longer by `change`. The cell
/// is one of so many, of which none may be called slow or fast by chance in more than 1 of 100.
/// Trial i depends on the seed and i alone.
Power compare_often(std::span<const double> record, double change, const Stages& stages,
                    std::size_t cells, std::size_t trials, std::uint64_t seed);

}  // namespace dlbench::stats
