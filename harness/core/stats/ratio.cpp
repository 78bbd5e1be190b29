#include "stats/ratio.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>

#include "stats/rank_test.hpp"
#include "stats/stopping.hpp"

namespace dlbench::stats {
namespace {

std::vector<double> log_medians(Processes side) {
  if (side.empty()) throw std::invalid_argument("a ratio needs at least one process on each side");
  std::vector<double> logs;
  for (const std::vector<double>& rounds : side) {
    const double center = median(rounds);
    if (!(center > 0)) throw std::invalid_argument("a ratio needs times above zero");
    logs.push_back(std::log(center));
  }
  return logs;
}

Ratio by_order(const std::vector<double>& first, const std::vector<double>& second) {
  const RankTest test(first.size(), second.size());
  const RankedShift shifts(test, first, second);
  const auto [lo, hi] = shifts.interval(0.95).value();
  return {std::exp(shifts.center()), std::exp(lo), std::exp(hi), true};
}

/// The squared half-width of the interval of a side's center, on the logarithmic scale.
double squared_width(Processes side, double between) {
  double sum = 0;
  for (const std::vector<double>& rounds : side) {
    const Interval interval = rounds_interval(rounds);
    const double half = std::log(interval.hi / interval.lo) / 2;
    sum += half * half + between * between;
  }
  // The median of three has a larger variance than their mean.
  const double loss = side.size() == 3 ? 1.35 : 1;
  const auto count = static_cast<double>(side.size());
  return loss * sum / count / count;
}

}  // namespace

Ratio ratio_of_medians(Processes first, Processes second, std::optional<double> between) {
  const std::vector<double> a = log_medians(first);
  const std::vector<double> b = log_medians(second);
  if (std::min(a.size(), b.size()) >= kFewestRanked) return by_order(a, b);
  const double off = std::log1p(between.value_or(0));
  const double half = std::sqrt(squared_width(first, off) + squared_width(second, off));
  const double shift = median(b) - median(a);
  return {std::exp(shift), std::exp(shift - half), std::exp(shift + half), between.has_value()};
}

}  // namespace dlbench::stats
