#pragma once

#include <string_view>

#include "sync/queue.hpp"

namespace dlbench::sync {

/// What became of memory that was dropped while the consumer's queue still read it.
struct LateFree {
  std::string_view word = "inconclusive";  ///< of kLateFree
  int trials = 0;
};

/// Drops view and array while a slow read is queued, has the producer write into its next array of
/// the size, and looks at what the read saw. Two controls: the very memory is overwritten, and the
/// read has to see that; dropped without a read, the memory has to come back to the next array.
/// Where one of them fails, nothing is proved.
LateFree late_free(const Queue& queue, const Options& options = {});

}  // namespace dlbench::sync
