#pragma once

#include <map>
#include <utility>

namespace dlbench::stats {

/// Two-sided chance that Student's t with so many degrees of freedom (above 0, also broken ones) is
/// as far from 0 as `t`.
double student_p(double t, double degrees_of_freedom);

/// The inverse: how far from 0 it is in the share `p` of all cases, 0 < p < 1.
double student_quantile(double p, double degrees_of_freedom);

/// That, remembered: comparisons ask for the same few again and again.
class Quantiles {
 public:
  double of(double p, double degrees_of_freedom);

 private:
  std::map<std::pair<double, double>, double> known_;
};

}  // namespace dlbench::stats
