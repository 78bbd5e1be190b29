#include "stats/stopping.hpp"

#include <limits>

namespace dlbench::stats {

Interval rounds_interval(std::span<const double> rounds) {
  return median_interval(rounds, kRoundsConfidence);
}

double relative_half_width(std::span<const double> rounds) {
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  if (rounds.empty()) return kUnknown;
  const Interval interval = rounds_interval(rounds);
  const double center = median(rounds);
  return interval.honest && center > 0 ? (interval.hi - interval.lo) / 2 / center : kUnknown;
}

bool is_precise(std::span<const double> rounds, const Stopping& stopping) {
  return rounds.size() >= stopping.most || relative_half_width(rounds) <= stopping.precision;
}

}  // namespace dlbench::stats
