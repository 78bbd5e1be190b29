#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/plan.hpp"

namespace dlbench::plan {

/// The time that one worker is expected to need for the plan, in ms: to import each library and to
/// measure the cells. A rough estimate for balancing shards; it is the same on every machine.
std::uint64_t expected_ms(const Plan& plan);

/// Part `number` (from 1) of `of` parts of the plan. Each pair with all its cells is in exactly one
/// part, and so is each excluded cell. The parts depend only on the plan and have about the same
/// expected time. Throws UsageError if `number` is above `of`, or if the plan has fewer pairs than
/// parts.
Plan shard(const Plan& whole, std::size_t number, std::size_t of);

}  // namespace dlbench::plan
