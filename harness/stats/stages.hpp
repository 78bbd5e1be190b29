#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "stats/change.hpp"
#include "stats/student.hpp"

namespace dlbench::stats {

/// A comparison in stages: few processes a side, then more, analysis by analysis, until the cell is
/// decided or the limit is reached.
///
/// Each of the `analyses` may call a cell SLOW or FAST, at its own part of the chance of a false
/// alarm: their sum bounds the chance of any, however the analyses depend on each other. How many
/// processes come next depends on the scatter within the sides alone.
struct Stages {
  std::size_t coarse = 6;
  std::size_t most = 60;
  std::size_t analyses = 5;
  double threshold = 0.05;  ///< the change that shall be seen, relative
};

/// The part of the chance of a false alarm that an analysis has, by its number (from 0) and the
/// processes a side: the last one, in number or by the limit of processes, all that is left, which
/// is half of it after all others, and each of those an equal part of the other half.
double part_of_alarms(std::size_t analysis, std::size_t processes, const Stages& stages);

/// How many a side find, in 99 of 100 cases, a change of this size, relative, where their p must be
/// below `level`, among processes whose scatter is known to be `spread` from so many degrees of
/// freedom: a scatter that few processes show may be that small by chance.
std::size_t processes_to_see(double change, double spread, double degrees_of_freedom, double level,
                             Quantiles& quantiles);

/// The least number of processes a side that see such a change in 99 of 100 cases, if they scatter
/// by `spread`: by Student's t while they are too few for the order of all pairs to reach `level`.
/// None where kMostReplicas are too few.
inline constexpr std::size_t kMostReplicas = 1000;
std::optional<std::size_t> replicas_to_see(double change, double spread, double level,
                                           Quantiles& quantiles);

/// One analysis of a cell: the ratio's 95 % interval, the processes of each side, and the smallest
/// change that would have been detected.
struct Analysis {
  double lo = 1, hi = 1;
  std::size_t first = 0, second = 0;
  double minimum_detectable_change = 0;
};

/// How many processes a side the next analysis has: a constant factor more, with which `analyses`
/// of them lead from 6 to 60, or from `coarse` to `most` if that is further, but no more than
/// surely find a change of the threshold. As many as there are where those detect the threshold and
/// their scatter asks for no more. By the interval's width, which a single disturbed process does
/// not stretch, as it does a standard deviation.
std::size_t next_processes(const Analysis& seen, const Stages& stages, double level,
                           Quantiles& quantiles);

/// What came of many comparisons of one cell, of each so many in a hundred.
struct Power {
  double slow = 0, fast = 0, same = 0, open = 0;  ///< shares; open: AMBIG or INCONCLUSIVE
  double processes = 0;                           ///< a side, in the mean
  double most = 0;
};

/// Does a cell need no more processes?
inline bool is_decided(ChangeWord word) {
  return word != ChangeWord::ambig && word != ChangeWord::inconclusive;
}

/// Comparisons in stages between neighbours of a record: medians of processes that ran one after
/// another, of which each pair is dealt to base and head by chance, as `compare` deals them, so
/// that what drifts in the record drifts in the comparison. Head's are longer by `change`. The cell
/// is one of so many, of which none may be called slow or fast by chance in more than 1 of 100.
/// Trial i depends on the seed and i alone.
Power compare_often(std::span<const double> record, double change, const Stages& stages,
                    std::size_t cells, std::size_t trials, std::uint64_t seed);

}  // namespace dlbench::stats
