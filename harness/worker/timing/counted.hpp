#pragma once

#include <cstdint>

#include "measure/round.hpp"

namespace dlbench::worker {

/// Can this build start valgrind's collection from code? Imports are then much faster.
bool has_callgrind_requests();

/// Does this process run under valgrind? Also false if this build cannot detect it.
bool under_valgrind();

/// Repeats the body `iterations` times inside `dlbench_counted`, the function in which callgrind
/// collects. Returns false if the body stopped. A plain loop without valgrind.
bool counted(measure::Body body, std::uint64_t iterations);

}  // namespace dlbench::worker
