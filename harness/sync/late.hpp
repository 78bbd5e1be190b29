#pragma once

#include <string_view>

#include "sync/queue.hpp"

namespace dlbench::sync {

/// What became of memory that was dropped while the consumer's queue still read it.
struct LateFree {
  std::string_view word = "inconclusive";  ///< of kLateFree
  int trials = 0;
  int reused = 0;  ///< the producer's next array lay in the same memory
};

/// Drops view and array while a slow read is queued, has the producer write into its next array of
/// the size, and looks at what the read saw. A control overwrites the very memory: where the read
/// does not see that, nothing is proved.
LateFree late_free(const Queue& queue, const Options& options = {});

}  // namespace dlbench::sync
