#include "stats/stats.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace dlbench::stats {
namespace {

std::vector<double> sorted(std::span<const double> values) {
  if (values.empty()) throw std::invalid_argument("statistics of no values");
  if (std::any_of(values.begin(), values.end(), [](double x) { return std::isnan(x); })) {
    throw std::invalid_argument("statistics of values that hold a NaN");
  }
  std::vector<double> copy(values.begin(), values.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

double middle(std::span<const double> ordered) {
  const std::size_t half = ordered.size() / 2;
  if (ordered.size() % 2 == 1) return ordered[half];
  return ordered[half - 1] + (ordered[half] - ordered[half - 1]) / 2;
}

/// Between the two nearest ranks, as NumPy's default does it.
double quantile(std::span<const double> ordered, double p) {
  const double position = p * static_cast<double>(ordered.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, ordered.size() - 1);
  const double part = position - static_cast<double>(below);
  return ordered[below] + part * (ordered[above] - ordered[below]);
}

/// The largest k for which [k-th smallest, k-th largest] of n values holds the median with the
/// asked confidence: 2 P(B < k) <= 1 - confidence for B ~ Binomial(n, 1/2). 0: there is none.
std::size_t sign_test_rank(std::size_t n, double confidence) {
  const double tail = (1 - confidence) / 2;
  const auto count = static_cast<double>(n);
  // Ten root-n, twenty standard deviations, below the mean nothing is left to add up.
  auto k = static_cast<std::size_t>(std::max(0.0, count / 2 - 10 * std::sqrt(count)));
  const auto start = static_cast<double>(k);
  double log_p = std::lgamma(count + 1) - std::lgamma(start + 1) - std::lgamma(count - start + 1) -
                 count * std::log(2.0);
  double below = 0;
  for (; k < n / 2; ++k) {
    below += std::exp(log_p);
    // The sum's own rounding must not cost a rank that is exact on paper.
    if (below > tail * (1 + 1e-12)) return k;
    log_p += std::log(static_cast<double>(n - k) / static_cast<double>(k + 1));
  }
  return k;
}

}  // namespace

double median(std::span<const double> values) {
  return middle(sorted(values));
}

double mad(std::span<const double> values) {
  std::vector<double> deviations = sorted(values);
  const double center = middle(deviations);
  for (double& x : deviations) x = std::abs(x - center);
  std::sort(deviations.begin(), deviations.end());
  return middle(deviations);
}

Interval median_interval(std::span<const double> values, double confidence) {
  if (!(confidence > 0 && confidence < 1)) {
    throw std::invalid_argument("a confidence lies between 0 and 1");
  }
  const std::vector<double> ordered = sorted(values);
  const std::size_t rank = sign_test_rank(ordered.size(), confidence);
  if (rank == 0) return {ordered.front(), ordered.back(), false};
  return {ordered[rank - 1], ordered[ordered.size() - rank], true};
}

double relative_spread(std::span<const double> values) {
  const std::vector<double> ordered = sorted(values);
  if (ordered.size() == 1) return 0;
  const double center = middle(ordered);
  if (!(center > 0)) throw std::invalid_argument("a relative spread needs a median above zero");
  return (quantile(ordered, 0.75) - quantile(ordered, 0.25)) / 2 / center;
}

}  // namespace dlbench::stats
