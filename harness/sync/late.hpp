#pragma once

#include <string_view>

#include "sync/queue.hpp"

namespace dlbench::sync {

/// Result for memory that was dropped while the consumer's queue still read it.
struct LateFree {
  std::string_view word = "inconclusive";  ///< or "safe", "late"
  int trials = 0;
};

/// Drops view and array while a slow read is queued, lets the producer write into its next array of
/// the same size, and checks what the read returned. Two controls: the read must see it when the
/// same memory is overwritten; and memory that is dropped without a read must be reused by the next
/// array. Where a control fails, nothing is proved.
LateFree late_free(const Queue& queue, const Options& options = {});

}  // namespace dlbench::sync
