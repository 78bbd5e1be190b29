#include "stats/student.hpp"

#include <cmath>
#include <limits>

namespace dlbench::stats {
namespace {

/// The continued fraction of the incomplete beta function, by Lentz's method; converges for
/// x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr double kEnough = 1e-14;
  constexpr int kMost = 500;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m <= kMost; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    fraction *= d * c;
    if (std::abs(d * c - 1) < kEnough) break;
  }
  return fraction;
}

/// The regularized incomplete beta function I_x(a, b).
double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

}  // namespace

double student_p(double t, double degrees_of_freedom) {
  if (std::isinf(t)) return 0;
  return incomplete_beta(degrees_of_freedom / 2, 0.5,
                         degrees_of_freedom / (degrees_of_freedom + t * t));
}

double student_quantile(double p, double degrees_of_freedom) {
  double low = 0, high = 1;
  while (student_p(high, degrees_of_freedom) > p) {
    low = high;
    high *= 2;
    if (std::isinf(high)) return std::numeric_limits<double>::infinity();
  }
  // Bisects to the last bit; the probability is monotonic.
  for (int step = 0; step < 100 && low < high; ++step) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (student_p(middle, degrees_of_freedom) > p ? low : high) = middle;
  }
  return high;
}

double Quantiles::of(double p, double degrees_of_freedom) {
  const auto [found, is_new] = known_.try_emplace({p, degrees_of_freedom}, 0);
  if (is_new) found->second = student_quantile(p, degrees_of_freedom);
  return found->second;
}

}  // namespace dlbench::stats
