#pragma once

#include <cstddef>
#include <span>

#include "stats/stats.hpp"

namespace dlbench::stats {

/// The stopping rule for the rounds of a cell: `first` rounds, then `pass` more at a time until the
/// relative half-width of its interval is below `precision`, but at most `most` rounds.
struct Stopping {
  std::size_t first = 6;  ///< the smallest number with a 95 % interval
  std::size_t pass = 6;
  std::size_t most = 24;
  double precision = 0.02;
};

/// The nominal confidence of an interval of rounds that covers 95 %. Stopping at a narrow interval
/// prefers intervals that miss the median, which reduces coverage by up to 2 % (measured by
/// tests/core/stats/coverage_test.cpp).
inline constexpr double kRoundsConfidence = 0.965;

/// The 95 % interval of a cell's rounds in one worker.
Interval rounds_interval(std::span<const double> rounds);

/// Half of rounds_interval(); infinite where the interval is not honest.
double half_width(std::span<const double> rounds);

/// The same divided by the median; infinite also for a median of 0 or below.
double relative_half_width(std::span<const double> rounds);

/// Is the interval narrow enough, or the number of rounds at its limit?
bool is_precise(std::span<const double> rounds, const Stopping& stopping);

}  // namespace dlbench::stats
