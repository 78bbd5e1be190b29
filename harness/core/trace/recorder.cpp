#include "trace/recorder.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#else
#include <functional>
#include <thread>
#endif

namespace dlbench::trace {
namespace {

struct Ring {
  std::mutex mutex;
  std::vector<Event> events;
  std::size_t capacity = 0;
  std::uint64_t count = 0;  // since the last take_recording()
};

Ring& ring() {
  static Ring kept;
  return kept;
}

}  // namespace

void record_ranges(std::size_t capacity) {
  Ring& kept = ring();
  const std::lock_guard lock(kept.mutex);
  kept.capacity = std::max<std::size_t>(capacity, 1);
  kept.events.assign(kept.capacity, {});
  kept.count = 0;
  detail::open.fetch_or(detail::kRecorder, std::memory_order_relaxed);
}

void record(const Event& event) {
  Ring& kept = ring();
  const std::lock_guard lock(kept.mutex);
  if (kept.capacity == 0) return;
  kept.events[kept.count++ % kept.capacity] = event;
}

Recording drain_recording() {
  Ring& kept = ring();
  const std::lock_guard lock(kept.mutex);
  Recording taken;
  if (kept.capacity == 0) return taken;
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(kept.count, kept.capacity));
  taken.lost = kept.count - size;
  taken.events.reserve(size);
  for (std::size_t i = 0; i < size; ++i) {
    taken.events.push_back(kept.events[(taken.lost + i) % kept.capacity]);
  }
  kept.count = 0;
  return taken;
}

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::int64_t thread_id() {
#ifdef __linux__
  thread_local const std::int64_t id = ::syscall(SYS_gettid);
#else
  thread_local const auto id =
      static_cast<std::int64_t>(std::hash<std::thread::id>{}(std::this_thread::get_id()) >> 33);
#endif
  return id;
}

}  // namespace dlbench::trace
