#pragma once

#include <cstdint>

#include "measure/round.hpp"

namespace dlbench::worker {

/// Can this build start valgrind's collection from code? Imports then run at a fraction of the
/// cost.
bool has_callgrind_requests();

/// Does this process run under valgrind? False also where this build cannot detect it.
bool under_valgrind();

/// Repeats the body so many times inside `dlbench_counted`, the function in which callgrind
/// collects. False where the body stopped. Without valgrind a plain loop.
bool counted(measure::Body body, std::uint64_t iterations);

}  // namespace dlbench::worker
