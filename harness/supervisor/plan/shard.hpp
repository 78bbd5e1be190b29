#pragma once

#include <cstddef>
#include <cstdint>

#include "supervisor/plan/plan.hpp"

namespace dlbench::plan {

/// The expected time of one worker for the plan, in ms: imports and cells. A rough estimate for
/// balancing shards; it is the same on every machine.
std::uint64_t expected_ms(const Plan& plan);

/// Part `number` (from 1) of `of` parts of the plan. Each pair with all its cells, and each
/// excluded cell, is in exactly one part. The parts depend only on the plan and have about the same
/// expected time. Throws UsageError if `number` is not in 1 to `of`, or if the plan has fewer pairs
/// than parts.
Plan shard(const Plan& whole, std::size_t number, std::size_t of);

}  // namespace dlbench::plan
