#pragma once

#include <cstddef>
#include <span>

namespace dlbench::stats {

/// All functions leave their input unchanged and throw std::invalid_argument for an empty input.

double median(std::span<const double> values);

/// Median of the absolute deviations from the median, unscaled.
double mad(std::span<const double> values);

struct Interval {
  double lo = 0;
  double hi = 0;
  bool honest = false;  ///< false: too few values for the requested confidence
};

/// An interval for the median from order statistics (sign test), interpolated between the two ranks
/// around the requested confidence (Hettmansperger and Sheather 1986). It has the requested
/// confidence for every distribution; whole ranks would cover up to 98 % where 95 % are requested.
/// With fewer than six values no 95 % interval exists: the result is the range and not honest.
Interval median_interval(std::span<const double> values, double confidence = 0.95);

/// Half the interquartile range divided by the median: the spread of the reference exchange over
/// workers. 0 for a single value.
double relative_spread(std::span<const double> values);

}  // namespace dlbench::stats
