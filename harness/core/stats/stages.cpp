#include "stats/stages.hpp"

#include <algorithm>
#include <cmath>

#include "stats/student.hpp"

namespace dlbench::stats {
namespace {

constexpr double kInterimConfidence = 0.95;  // of the interval at an interim analysis

/// The number of processes on each side that detect the change with a power of 99 %, for a normal
/// distribution.
double processes_by_scatter(double change, double spread, double degrees_of_freedom, double level,
                            Quantiles& quantiles) {
  constexpr double kMissed = 0.01;         // share of such changes that are missed
  constexpr double kRanksNeedMore = 1.17;  // of RankTest, for normal times
  constexpr double kMost = 1e6;
  const double far =
      quantiles.of(level, degrees_of_freedom) + quantiles.of(2 * kMissed, degrees_of_freedom);
  const double times = far * spread / std::log1p(change);
  return std::min(std::ceil(2 * times * times * kRanksNeedMore) + 1, kMost);
}

}  // namespace

double part_of_alarms(std::size_t analysis, std::size_t processes, const Stages& stages) {
  const double each = 0.5 / static_cast<double>(std::max<std::size_t>(stages.analyses, 2) - 1);
  const bool is_last = analysis + 1 >= stages.analyses || processes >= stages.most;
  return is_last ? 1 - static_cast<double>(analysis) * each : each;
}

std::size_t processes_to_detect(double change, double spread, double degrees_of_freedom,
                                double level, Quantiles& quantiles) {
  const double needed = processes_by_scatter(change, spread, degrees_of_freedom, level, quantiles);
  return std::max(processes_for(level) + 1, static_cast<std::size_t>(needed));
}

std::optional<std::size_t> replicas_to_detect(double change, double spread, double level,
                                              Quantiles& quantiles) {
  const std::size_t ranked = processes_for(level);
  const auto is_enough = [&](std::size_t processes) {
    const auto count = static_cast<double>(processes);
    return processes_by_scatter(change, spread, 2 * count - 2, level, quantiles) <= count;
  };
  // With few processes, use Student's t. A rank test needs one process more than the number that
  // just reaches the level.
  for (std::size_t few = 2; few < ranked; ++few) {
    if (is_enough(few)) return few;
  }
  std::size_t few = ranked, enough = kMostReplicas;
  if (!is_enough(enough)) return std::nullopt;
  while (enough - few > 1) {
    const std::size_t middle = (few + enough) / 2;
    (is_enough(middle) ? enough : few) = middle;
  }
  return enough;
}

std::size_t next_processes(const Analysis& observed, const Stages& stages, double level,
                           Quantiles& quantiles) {
  const std::size_t have = std::min(observed.first, observed.second);
  const double degrees_of_freedom =
      std::max(1.0, static_cast<double>(observed.first + observed.second) - 2);
  const double each =
      1 / static_cast<double>(observed.first) + 1 / static_cast<double>(observed.second);
  const double half = std::log(observed.hi / observed.lo) / 2;
  const double spread =
      half / (quantiles.of(1 - kInterimConfidence, degrees_of_freedom) * std::sqrt(each));
  const std::size_t sure =
      processes_to_detect(stages.threshold, spread, degrees_of_freedom, level, quantiles);
  const bool is_able = observed.minimum_detectable_change <= stages.threshold;
  if (sure <= have && is_able) return std::min(have, stages.most);
  constexpr double kFarthest = 10;
  const double far = static_cast<double>(stages.most) / static_cast<double>(stages.coarse);
  const auto steps = static_cast<double>(std::max<std::size_t>(stages.analyses, 2) - 1);
  const double step = std::pow(std::max(kFarthest, far), 1 / steps);
  const auto next = static_cast<std::size_t>(std::ceil(static_cast<double>(have) * step - 1e-9));
  return std::min(stages.most, sure > have ? std::min(sure, next) : next);
}

}  // namespace dlbench::stats
