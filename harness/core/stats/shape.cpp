#include "stats/shape.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "stats/stats.hpp"

namespace dlbench::stats {
namespace {

constexpr double kLeastChange = 0.05;  // of the median

/// P(at most `inversions` inversions) for n values in random order. The distribution is computed by
/// inserting one value after another; for many values it is approximated by a normal distribution.
double kendall_tail(std::size_t n, std::size_t inversions) {
  constexpr std::size_t kMostExact = 40;
  if (n > kMostExact) {
    const auto count = static_cast<double>(n);
    const double pairs = count * (count - 1) / 2;
    const double sigma = std::sqrt(count * (count - 1) * (2 * count + 5) / 18);
    const double score = pairs - 2 * static_cast<double>(inversions);
    return std::erfc((score - 1) / sigma / std::sqrt(2.0)) / 2;
  }
  std::vector<double> share{1.0};
  for (std::size_t i = 2; i <= n; ++i) {
    std::vector<double> next(share.size() + i - 1, 0.0);
    for (std::size_t j = 0; j < share.size(); ++j) {
      for (std::size_t k = 0; k < i; ++k) next[j + k] += share[j] / static_cast<double>(i);
    }
    share = std::move(next);
  }
  double tail = 0;
  for (std::size_t j = 0; j < share.size() && j <= inversions; ++j) tail += share[j];
  return tail;
}

/// The number of pairs in order minus the number out of order; ties count for neither.
std::ptrdiff_t kendall_score(std::span<const double> values) {
  std::ptrdiff_t score = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i + 1; j < values.size(); ++j) {
      score += (values[j] > values[i] ? 1 : 0) - (values[j] < values[i] ? 1 : 0);
    }
  }
  return score;
}

}  // namespace

bool is_bimodal(std::span<const double> values) {
  constexpr std::size_t kLeast = 12;
  constexpr double kGap = 30;
  const std::size_t n = values.size();
  if (n < kLeast) return false;
  std::vector<double> ordered(values.begin(), values.end());
  std::sort(ordered.begin(), ordered.end());
  const std::span<const double> all(ordered);
  const double least_gap = kLeastChange * median(all);
  const std::size_t smallest = (n + 3) / 4;
  for (std::size_t split = smallest; split + smallest <= n; ++split) {
    const double gap = all[split] - all[split - 1];
    // Slow rounds have a long tail, so only the faster half of the slower group counts.
    const double widths = (all[split - 1] - all[0]) + (median(all.subspan(split)) - all[split]);
    if (gap >= least_gap && gap * static_cast<double>(n) > kGap * widths) return true;
  }
  return false;
}

bool drifts(std::span<const double> values, std::size_t rows) {
  constexpr std::size_t kLeast = 6;
  constexpr double kFalseAlarms = 0.005;
  const std::size_t n = values.size();
  if (n < kLeast) return false;
  const std::size_t third = n / 3;
  const double change = median(values.last(third)) - median(values.first(third));
  if (std::abs(change) < kLeastChange * median(values)) return false;
  const auto pairs = static_cast<std::ptrdiff_t>(n * (n - 1) / 2);
  const std::ptrdiff_t against = (pairs - std::abs(kendall_score(values))) / 2;
  return 2 * kendall_tail(n, static_cast<std::size_t>(against)) <=
         kFalseAlarms / static_cast<double>(rows);
}

}  // namespace dlbench::stats
