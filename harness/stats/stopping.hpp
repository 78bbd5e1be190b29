#pragma once

#include <cstddef>
#include <span>

#include "stats/stats.hpp"

namespace dlbench::stats {

/// When a cell has had rounds enough: `first` of them, then `pass` more at a time until half its
/// interval over its median is below `precision`, at most `most`.
struct Stopping {
  std::size_t first = 6;  ///< the least number for which a 95 % interval exists
  std::size_t pass = 6;
  std::size_t most = 24;
  double precision = 0.02;
};

/// What an interval of rounds is formed at, so that it covers 95 %: whoever stops because an
/// interval looks narrow stops too often at one that misses, which costs up to two in a hundred
/// (tests/stats/coverage_test.cpp measures it).
inline constexpr double kRoundsConfidence = 0.965;

/// The interval of a cell's rounds in one worker.
Interval rounds_interval(std::span<const double> rounds);

/// Half that interval over the median; infinite where it is not honest.
double relative_half_width(std::span<const double> rounds);

/// Is there nothing left to be gained by more rounds?
bool is_precise(std::span<const double> rounds, const Stopping& stopping);

}  // namespace dlbench::stats
