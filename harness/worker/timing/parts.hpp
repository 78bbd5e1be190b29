#pragma once

#include <array>
#include <cstddef>

namespace dlbench::worker {

/// The parts of a replayed exchange. Each runs below its own function, `dlbench_part<i>`, so that a
/// call profile distinguishes them.
enum class Part {
  query,
  export_,
  import,
  release,
  proxy,    ///< a request to the replaying proxy, which returns an answer without cost
  nothing,  ///< only entering and leaving such a function
};

/// One step of a part. Returns 0, or -1 with an exception set.
using PartStep = int (*)(void* self, std::size_t index);

/// Calls the step below the part's own function.
int in_part(Part part, PartStep step, void* self, std::size_t index = 0);

}  // namespace dlbench::worker
