#include "stats/rank_sum.hpp"

#include <algorithm>
#include <cmath>

namespace dlbench::stats {
namespace {

constexpr std::size_t kMostCounted = 2500;
/// Rounding must not make a sum of probabilities miss a bound that it meets exactly.
constexpr double kRounding = 1 + 1e-12;

double normal_below(double z) {
  return std::erfc(-z / std::sqrt(2.0)) / 2;
}

}  // namespace

RankSum::RankSum(std::size_t m, std::size_t n) : pairs_(m * n) {
  if (pairs_ > kMostCounted) {
    sigma_ = std::sqrt(static_cast<double>(pairs_) * static_cast<double>(m + n + 1) / 12);
    return;
  }
  // ways[j][u]: P(U = u) for j values of the first side; the loop adds one value of the second side
  // at a time.
  std::vector<std::vector<double>> ways(m + 1, std::vector<double>(pairs_ + 1, 0.0));
  for (std::size_t j = 0; j <= m; ++j) ways[j][0] = 1;
  for (std::size_t i = 1; i <= n; ++i) {
    for (std::size_t j = 1; j <= m; ++j) {
      const double last_of_first = static_cast<double>(j) / static_cast<double>(i + j);
      for (std::size_t u = j * i + 1; u-- > 0;) {
        // The largest value belongs to the first side (and is above all i of the second) or to the
        // second side.
        const double first = u >= i ? ways[j - 1][u - i] : 0;
        ways[j][u] = last_of_first * first + (1 - last_of_first) * ways[j][u];
      }
    }
  }
  double below = 0;
  for (std::size_t u = 0; 2 * u <= pairs_; ++u) cumulative_.push_back(below += ways[m][u]);
}

double RankSum::p(std::size_t pairs_below) const {
  const std::size_t count = std::min(pairs_below, pairs_ - std::min(pairs_, pairs_below));
  if (sigma_ > 0) {
    const double from_middle = static_cast<double>(count) + 0.5 - static_cast<double>(pairs_) / 2;
    return std::min(1.0, 2 * normal_below(from_middle / sigma_));
  }
  return std::min(1.0, 2 * cumulative_[count]);
}

std::size_t RankSum::rank(double confidence) const {
  const double tail = (1 - confidence) * kRounding;
  // The probability increases with the count, so bisect.
  std::size_t k = 0, above = (pairs_ + 1) / 2;
  while (k < above) {
    const std::size_t half = k + (above - k) / 2;
    if (p(half) <= tail)
      k = half + 1;
    else
      above = half;
  }
  return k;
}

std::size_t pairs_out_of_order(std::span<const double> first, std::span<const double> second) {
  std::size_t below = 0, above = 0;
  for (const double a : first) {
    for (const double b : second) {
      below += b < a ? 1 : 0;
      above += b > a ? 1 : 0;
    }
  }
  const std::size_t pairs = first.size() * second.size();
  return std::min(pairs - std::max(below, above), pairs / 2);
}

}  // namespace dlbench::stats
