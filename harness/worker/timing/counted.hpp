#pragma once

#include <cstdint>

#include "measure/round.hpp"

namespace dlbench::worker {

/// Whether this build can tell valgrind when to begin: imports then run at a fraction of the cost.
bool has_callgrind_requests();

/// Does this process run under valgrind? False also where this build cannot tell.
bool under_valgrind();

/// Repeats the body so many times inside `dlbench_counted`, the function whose entry and exit
/// callgrind is told to collect between. False where the body stopped. Without valgrind a plain
/// loop.
bool counted(measure::Body body, std::uint64_t iterations);

}  // namespace dlbench::worker
