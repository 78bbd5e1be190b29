#include "gpu/queues.hpp"

#include <algorithm>
#include <thread>

#include "calls.hpp"
#include "device/sim.hpp"

namespace dlbench::fake {

using device::sim::now;

void Mark::fire(std::int64_t at) {
  {
    const std::lock_guard lock(mutex_);
    fired_ = true;
    at_ = at;
  }
  changed_.notify_all();
}

std::int64_t Mark::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return fired_; });
  return at_;
}

bool Mark::is_fired() {
  const std::lock_guard lock(mutex_);
  return fired_;
}

HardwareQueue::HardwareQueue() {
  std::thread([this] { run(); }).detach();
}

void HardwareQueue::run() {
  std::int64_t clock = 0;
  for (;;) {
    Item next;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !items_.empty(); });
      next = std::move(items_.front());
    }
    clock = std::max(clock, next.submitted);
    next.work(clock);
    {
      // Only now: work that runs takes up its place in the queue.
      const std::lock_guard lock(mutex_);
      items_.pop_front();
    }
    changed_.notify_all();
  }
}

void HardwareQueue::push(Work work) {
  const auto most = static_cast<std::size_t>(std::max(1, mode("DLBENCH_FAKE_PENDING", 1024)));
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this, most] { return items_.size() < most; });
    items_.push_back({now(), std::move(work)});
  }
  changed_.notify_all();
}

}  // namespace dlbench::fake
