#pragma once

namespace dlbench::stats {

/// First and second derivative of the logarithm of the gamma function, for x > 0, to 1e-10.
double digamma(double x);
double trigamma(double x);

/// The inverse of trigamma for values above 0.
double trigamma_inverse(double value);

}  // namespace dlbench::stats
