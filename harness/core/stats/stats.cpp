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
    throw std::invalid_argument("statistics of values that contain a NaN");
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

/// Interpolates between the two nearest ranks, as NumPy does by default.
double quantile(std::span<const double> ordered, double p) {
  const double position = p * static_cast<double>(ordered.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, ordered.size() - 1);
  const double part = position - static_cast<double>(below);
  return ordered[below] + part * (ordered[above] - ordered[below]);
}

/// P(B = k) for B ~ Binomial(n, 1/2), as its logarithm.
double log_binomial(std::size_t n, std::size_t k) {
  const auto count = static_cast<double>(n);
  const auto at = static_cast<double>(k);
  return std::lgamma(count + 1) - std::lgamma(at + 1) - std::lgamma(count - at + 1) -
         count * std::log(2.0);
}

/// The interval [k-th smallest, k-th largest] covers the median with confidence `outer`, which is
/// at least the requested one. One rank further in, the confidence is `inner`, which is below it. k
/// is 0 if no such rank exists.
struct Ranks {
  std::size_t k = 0;
  double outer = 0;
  double inner = 0;
};

Ranks sign_test_ranks(std::size_t n, double confidence) {
  const double tail = (1 - confidence) / 2;
  const auto count = static_cast<double>(n);
  // Probabilities more than twenty standard deviations below the mean are negligible.
  auto k = static_cast<std::size_t>(std::max(0.0, count / 2 - 10 * std::sqrt(count)));
  double log_p = log_binomial(n, k);
  double below = 0;
  for (; k < n / 2; ++k) {
    const double next = below + std::exp(log_p);
    // Rounding of the sum must not exclude a rank that meets the bound exactly.
    if (next > tail * (1 + 1e-12)) return {k, 1 - 2 * below, std::max(0.0, 1 - 2 * next)};
    below = next;
    log_p += std::log(static_cast<double>(n - k) / static_cast<double>(k + 1));
  }
  return {k, 1 - 2 * below, 0};
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
    throw std::invalid_argument("the confidence must be between 0 and 1");
  }
  const std::vector<double> ordered = sorted(values);
  const std::size_t n = ordered.size();
  const Ranks ranks = sign_test_ranks(n, confidence);
  if (ranks.k == 0) return {ordered.front(), ordered.back(), false};
  const double excess =
      std::clamp((ranks.outer - confidence) / (ranks.outer - ranks.inner), 0., 1.);
  const auto outside = static_cast<double>(ranks.k);
  const auto inside = static_cast<double>(n - ranks.k);
  const double part = inside * excess / (outside + (inside - outside) * excess);
  const auto between = [&](std::size_t outer, std::size_t inner) {
    return ordered[outer] + part * (ordered[inner] - ordered[outer]);
  };
  const std::size_t inner = std::min(ranks.k, (n - 1) / 2);
  return {between(ranks.k - 1, inner), between(n - ranks.k, n - 1 - inner), true};
}

double relative_spread(std::span<const double> values) {
  const std::vector<double> ordered = sorted(values);
  if (ordered.size() == 1) return 0;
  const double center = middle(ordered);
  if (!(center > 0)) throw std::invalid_argument("a relative spread needs a median above zero");
  return (quantile(ordered, 0.75) - quantile(ordered, 0.25)) / 2 / center;
}

}  // namespace dlbench::stats
