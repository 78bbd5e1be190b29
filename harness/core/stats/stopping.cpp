#include "stats/stopping.hpp"

#include <limits>

namespace dlbench::stats {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

}  // namespace

Interval rounds_interval(std::span<const double> rounds) {
  return median_interval(rounds, kRoundsConfidence);
}

double half_width(std::span<const double> rounds) {
  if (rounds.empty()) return kUnknown;
  const Interval interval = rounds_interval(rounds);
  return interval.honest ? (interval.hi - interval.lo) / 2 : kUnknown;
}

double relative_half_width(std::span<const double> rounds) {
  if (rounds.empty()) return kUnknown;
  const double center = median(rounds);
  return center > 0 ? half_width(rounds) / center : kUnknown;
}

bool is_precise(std::span<const double> rounds, const Stopping& stopping) {
  return rounds.size() >= stopping.most || relative_half_width(rounds) <= stopping.precision;
}

}  // namespace dlbench::stats
