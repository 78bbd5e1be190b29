#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "fleet/task.hpp"
#include "model/entry.hpp"

namespace dlbench::fleet {

/// A round more would be the first that the interval of the median needs.
inline constexpr std::size_t kCoarseRounds = 6;

/// Enough to be shown: six rounds, or what two seconds of rounds gave, three at least.
bool is_enough(const Samples& samples);

/// Half the interval of the median over the median; infinite where the interval is not honest.
double relative_half_width(const Samples& samples);

/// What one worker brought home of a cell.
struct Share {
  WorkerNumbers numbers;
  std::uint64_t iterations = 0;
  double cpu_ns = 0;    ///< median over the rounds
  double floor_ns = 0;  ///< 0 where it is not known
  double data_ns = 0;   ///< until the consumer's data was there; 0 where that was not measured
};

/// Median, interval, MAD, CPU time, floor ratio, and of a copy the rate, from at least one share.
/// Several workers: the median of their medians, and an interval that holds each of theirs. The
/// document widens it later, when the anchor's spread is known.
void fill_numbers(Entry& entry, std::span<const Share> shares);

}  // namespace dlbench::fleet
