#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>

namespace dlbench::fake {

/// The end of one piece of work and its time on the device's clock. Shared by the stream, its
/// events and those that wait.
class Mark {
 public:
  void fire(std::int64_t at);
  /// The time at which it fired.
  std::int64_t wait();
  bool is_fired();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool fired_ = false;
  std::int64_t at_ = 0;
};

/// A hardware queue: runs the work of all its streams, in order of submission. It lives as long as
/// the process.
class HardwareQueue {
 public:
  /// Work gets the queue's clock and moves it on. The clock is in nanoseconds of the host's
  /// monotonic clock. It counts what work costs on a device, so it is not stretched while the
  /// host's scheduler keeps this queue's thread waiting between two pieces of work.
  using Work = std::function<void(std::int64_t& clock)>;

  HardwareQueue();
  HardwareQueue(const HardwareQueue&) = delete;
  HardwareQueue& operator=(const HardwareQueue&) = delete;

  /// Blocks while the queue is full.
  void push(Work work);

 private:
  struct Item {
    std::int64_t submitted;
    Work work;
  };

  [[noreturn]] void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> items_;
};

}  // namespace dlbench::fake
