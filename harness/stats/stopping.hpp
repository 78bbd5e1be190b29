#pragma once

#include <cstddef>
#include <span>

#include "stats/stats.hpp"

namespace dlbench::stats {

/// When to stop the rounds of a cell: after `first` rounds, then `pass` more at a time until the
/// half-width of its interval over its median is below `precision`; at most `most` rounds.
struct Stopping {
  std::size_t first = 6;  ///< the least number for which a 95 % interval exists
  std::size_t pass = 6;
  std::size_t most = 24;
  double precision = 0.02;
};

/// Nominal confidence of an interval of rounds, so that it covers 95 %: stopping at a narrow
/// interval selects intervals that miss the median, which costs up to 2 %
/// (tests/stats/coverage_test.cpp measures it).
inline constexpr double kRoundsConfidence = 0.965;

/// The interval of a cell's rounds in one worker.
Interval rounds_interval(std::span<const double> rounds);

/// Half that interval over the median; infinite where it is not honest.
double relative_half_width(std::span<const double> rounds);

/// Is there nothing left to be gained by more rounds?
bool is_precise(std::span<const double> rounds, const Stopping& stopping);

}  // namespace dlbench::stats
