#pragma once

#include <array>
#include <cstddef>

namespace dlbench::worker {

/// What a replayed exchange is made of, each run below a function of its own, `dlbench_part<i>`, so
/// that a profile of calls tells them apart.
enum class Part {
  query,
  export_,
  import,
  release,
  proxy,    ///< what asking the replaying proxy costs, with an answer that costs nothing
  nothing,  ///< what entering and leaving such a function costs
};

/// One step of a part: 0, or -1 with an exception set.
using PartStep = int (*)(void* self, std::size_t index);

/// Calls the step below the part's own function.
int in_part(Part part, PartStep step, void* self, std::size_t index = 0);

}  // namespace dlbench::worker
