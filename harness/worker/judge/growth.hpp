#pragma once

#include <cstdint>

#include "measure/round.hpp"

namespace dlbench::worker {

/// Bytes of the C heap that each of so many calls leaves behind, again and again: the least of
/// three blocks, 0 where one of them left nothing worth a word, where a call fails, and where the C
/// library does not tell. What is kept once, in a cache or a pool, does not grow with the calls.
double bytes_left_behind(measure::Body body, std::uint64_t calls);

}  // namespace dlbench::worker
