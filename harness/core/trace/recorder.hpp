#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/range.hpp"

namespace dlbench::trace {

/// A finished range. Times are monotonic nanoseconds, the same in all processes of a machine.
struct Event {
  const Name* name = nullptr;
  std::uint64_t bytes = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t thread = 0;
};

/// Ranges in the order in which they ended.
struct Recording {
  std::vector<Event> events;
  std::uint64_t lost = 0;  ///< number of the oldest ranges that were overwritten
};

/// Starts recording. Keeps the last `capacity` ranges in memory that is allocated here.
void record_ranges(std::size_t capacity);

/// Returns the ranges since the last call. Recording continues.
Recording drain_recording();

void record(const Event& event);
std::int64_t now_ns();
/// The kernel's id of the calling thread.
std::int64_t thread_id();

}  // namespace dlbench::trace
