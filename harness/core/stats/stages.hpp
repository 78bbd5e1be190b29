#pragma once

#include <cstddef>
#include <optional>

#include "stats/change.hpp"
#include "stats/student.hpp"

namespace dlbench::stats {

/// The relative change to be detected: of times, and of counts, which vary less.
inline constexpr double kThreshold = 0.05, kCountThreshold = 0.01;

/// A group sequential comparison: few processes on each side, then more for each interim analysis,
/// until the cell is decided or the limit is reached.
///
/// Each of the `analyses` may decide SLOW or FAST at its share of the false-alarm probability. The
/// sum of the shares bounds the probability of any false alarm, for any dependence between
/// analyses. The number of additional processes depends only on the spread within the sides.
struct Stages {
  std::size_t coarse = 6;
  std::size_t most = 60;
  std::size_t analyses = 5;
  double threshold = kThreshold;
};

/// The share of the false-alarm probability of an analysis, from its number (from 0) and the
/// processes on each side. The last analysis, by number or by the limit of processes, has at least
/// one half; the others share the rest equally.
double part_of_alarms(std::size_t analysis, std::size_t processes, const Stages& stages);

/// The number of processes on each side that detect a relative change of this size with a power of
/// 99 % at `level`. `spread` is their standard deviation, estimated with `degrees_of_freedom`; the
/// result includes the uncertainty of that estimate.
std::size_t processes_to_detect(double change, double spread, double degrees_of_freedom,
                                double level, Quantiles& quantiles);

/// The smallest number of processes on each side that detects such a change with a power of 99 %,
/// if their standard deviation is `spread`. Uses Student's t while a rank test cannot reach
/// `level`. None if kMostReplicas are too few: more would cost hours, and a machine that needs them
/// drifts meanwhile.
inline constexpr std::size_t kMostReplicas = Stages{}.most;
std::optional<std::size_t> replicas_to_detect(double change, double spread, double level,
                                              Quantiles& quantiles);

/// One analysis of a cell: the ratio's 95 % interval, the processes of each side, and the minimum
/// detectable change.
struct Analysis {
  double lo = 1, hi = 1;
  std::size_t first = 0, second = 0;
  double minimum_detectable_change = 0;
};

/// The number of processes on each side for the next analysis. It increases by a constant factor,
/// so that `analyses` steps lead from 6 to 60, or from `coarse` to `most` if that factor is larger,
/// but only up to the number that detects the threshold. Unchanged if the present number is enough.
/// It uses the width of the interval, because one disturbed process changes a standard deviation
/// more.
std::size_t next_processes(const Analysis& observed, const Stages& stages, double level,
                           Quantiles& quantiles);

}  // namespace dlbench::stats
