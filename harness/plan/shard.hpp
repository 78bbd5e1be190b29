#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/plan.hpp"

namespace dlbench::plan {

/// Milliseconds that one worker is expected to need for the plan: an import of each library, and
/// the cells. A rough guess that is the same on every machine; it serves to balance shards.
std::uint64_t expected_ms(const Plan& plan);

/// The part `number`, from 1, of `of` parts of the plan. Each pair is in one part, with all its
/// cells, and each excluded cell too. The parts follow from the plan alone, and take about the same
/// expected time. Throws UsageError where `number` is above `of`, or the plan has fewer pairs than
/// parts.
Plan shard(const Plan& whole, std::size_t number, std::size_t of);

}  // namespace dlbench::plan
