#pragma once

#include <string_view>

#include "sync/queue.hpp"

namespace dlbench::sync {

/// The result for memory that is freed while the consumer's queue still reads it.
struct LateFree {
  std::string_view word = "inconclusive";  ///< or "safe", "late"
  int trials = 0;
};

/// Drops result and array while a slow read is queued, lets the producer write into its next array
/// of the same size, and checks the value that was read. The result is inconclusive unless two
/// controls succeed: the read sees an overwrite of the memory, and the next array reuses memory
/// that is dropped without a read.
LateFree late_free(const Queue& queue, const Options& options = {});

}  // namespace dlbench::sync
