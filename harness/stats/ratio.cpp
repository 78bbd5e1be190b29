#include "stats/ratio.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>

#include "stats/stopping.hpp"

namespace dlbench::stats {
namespace {

/// The smallest number of processes a side for which the order of all pairs tells 95 %.
constexpr std::size_t kEnough = 4;

std::vector<double> log_medians(Processes side) {
  if (side.empty()) throw std::invalid_argument("a ratio needs a process on each side");
  std::vector<double> logs;
  for (const std::vector<double>& rounds : side) {
    const double center = median(rounds);
    if (!(center > 0)) throw std::invalid_argument("a ratio needs times above zero");
    logs.push_back(std::log(center));
  }
  return logs;
}

/// The largest k for which 2 P(U < k) <= 5 %, U being Mann and Whitney's count for two sides of one
/// kind. Beyond what can be counted, the normal approximation.
std::size_t rank_sum_rank(std::size_t m, std::size_t n) {
  constexpr double kTail = 0.025;
  constexpr std::size_t kMostCounted = 2500;
  const std::size_t pairs = m * n;
  if (pairs > kMostCounted) {
    const auto count = static_cast<double>(pairs);
    const double sigma = std::sqrt(count * static_cast<double>(m + n + 1) / 12);
    return static_cast<std::size_t>(count / 2 - 1.95996 * sigma);
  }
  // ways[j][u]: P(U = u) among j of the first side, as the second side grows by one each time.
  std::vector<std::vector<double>> ways(m + 1, std::vector<double>(pairs + 1, 0.0));
  for (std::size_t j = 0; j <= m; ++j) ways[j][0] = 1;
  for (std::size_t i = 1; i <= n; ++i) {
    for (std::size_t j = 1; j <= m; ++j) {
      const double last_of_first = static_cast<double>(j) / static_cast<double>(i + j);
      for (std::size_t u = j * i + 1; u-- > 0;) {
        // The largest of all is one of the first side (it is above all i of the second), or not.
        const double first = u >= i ? ways[j - 1][u - i] : 0;
        ways[j][u] = last_of_first * first + (1 - last_of_first) * ways[j][u];
      }
    }
  }
  double below = 0;
  std::size_t k = 0;
  while (k < pairs && below + ways[m][k] <= kTail * (1 + 1e-12)) below += ways[m][k++];
  return k;
}

Ratio by_order(const std::vector<double>& first, const std::vector<double>& second) {
  std::vector<double> shifts;
  for (const double a : first) {
    for (const double b : second) shifts.push_back(b - a);
  }
  std::sort(shifts.begin(), shifts.end());
  const std::size_t rank = rank_sum_rank(first.size(), second.size());
  return {std::exp(median(shifts)), std::exp(shifts[rank - 1]),
          std::exp(shifts[shifts.size() - rank]), true};
}

/// Squared half-width, on the logarithm's scale, of a side's middle.
double squared_width(Processes side, double between) {
  double sum = 0;
  for (const std::vector<double>& rounds : side) {
    const Interval interval = rounds_interval(rounds);
    const double half = std::log(interval.hi / interval.lo) / 2;
    sum += half * half + between * between;
  }
  // The median of three scatters more than their mean would.
  const double loss = side.size() == 3 ? 1.35 : 1;
  const auto count = static_cast<double>(side.size());
  return loss * sum / count / count;
}

}  // namespace

Ratio ratio_of_medians(Processes first, Processes second, std::optional<double> between) {
  const std::vector<double> a = log_medians(first);
  const std::vector<double> b = log_medians(second);
  if (std::min(a.size(), b.size()) >= kEnough) return by_order(a, b);
  const double off = std::log1p(between.value_or(0));
  const double half = std::sqrt(squared_width(first, off) + squared_width(second, off));
  const double shift = median(b) - median(a);
  return {std::exp(shift), std::exp(shift - half), std::exp(shift + half), between.has_value()};
}

}  // namespace dlbench::stats
