#include "stats/gamma.hpp"

#include <cmath>

namespace dlbench::stats {

// Both use the recurrence up to where the asymptotic series has an error below 1e-10.
double digamma(double x) {
  double sum = 0;
  for (; x < 10; ++x) sum -= 1 / x;
  const double square = 1 / (x * x);
  return sum + std::log(x) - 0.5 / x -
         square * (1. / 12 - square * (1. / 120 - square * (1. / 252 - square / 240)));
}

double trigamma(double x) {
  double sum = 0;
  for (; x < 10; ++x) sum += 1 / (x * x);
  const double square = 1 / (x * x);
  return sum + 1 / x + square / 2 +
         square / x * (1. / 6 - square * (1. / 30 - square * (1. / 42 - square / 30)));
}

// Newton's method on 1 / trigamma, which is nearly linear, so that it converges monotonically from
// below.
double trigamma_inverse(double value) {
  double x = 0.5 + 1 / value;
  for (int step = 0; step < 50; ++step) {
    constexpr double kSmall = 1e-5;
    const double at = trigamma(x);
    const double slope = (trigamma(x * (1 + kSmall)) - at) / (x * kSmall);
    const double change = at * (1 - at / value) / slope;
    x += change;
    if (std::abs(change) < 1e-9 * x) break;
  }
  return x;
}

}  // namespace dlbench::stats
