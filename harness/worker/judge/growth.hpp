#pragma once

#include <cstdint>

#include "measure/round.hpp"

namespace dlbench::worker {

/// Bytes of the C heap that each of so many calls leaves allocated: the least of three blocks. 0
/// where a block left next to nothing, where a call fails, and where the C library does not report
/// the heap's size. A cache or a pool that is filled once does not grow with the calls.
double bytes_left_behind(measure::Body body, std::uint64_t calls);

}  // namespace dlbench::worker
