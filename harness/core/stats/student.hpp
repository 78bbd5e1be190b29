#pragma once

#include <map>
#include <utility>

namespace dlbench::stats {

/// The two-sided p-value of `t` under Student's distribution. The degrees of freedom are above 0
/// and need not be whole.
double student_p(double t, double degrees_of_freedom);

/// The inverse: the t with the two-sided p-value `p`, 0 < p < 1.
double student_quantile(double p, double degrees_of_freedom);

/// Caches quantiles, because comparisons use the same few many times.
class Quantiles {
 public:
  double of(double p, double degrees_of_freedom);

 private:
  std::map<std::pair<double, double>, double> known_;
};

}  // namespace dlbench::stats
