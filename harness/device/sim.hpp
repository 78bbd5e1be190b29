#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "device/table.hpp"

/// A device made of threads: streams, events, delays, memory that is poisoned when it is freed.
/// Every judge of streams is tried on it, and the fake vendor libraries of the tests are shims
/// over it.
namespace dlbench::device::sim {

/// Monotonic nanoseconds: the clock of the simulated device and of its host alike.
std::int64_t now();

/// Sleeps to a deadline; or spins, which a busy machine stretches.
void pass(std::int64_t ns, bool spinning);

/// Fires once. Shared by its recorder and its waiters.
class Mark {
 public:
  void fire();
  void wait();
  bool fired();
  /// now() at firing; 0 before.
  std::int64_t at();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t at_ = 0;
};

/// A queue and the thread that works through it, in order.
class Queue {
 public:
  explicit Queue(bool blocking);
  /// Works off what is queued first.
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// Whether it has implicit edges with the legacy stream.
  bool blocking() const { return blocking_; }
  void push(std::function<void()> work);
  void synchronize();
  bool idle();
  std::shared_ptr<Mark> record();
  void wait(std::shared_ptr<Mark> mark);

 private:
  void work();

  const bool blocking_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queued_;
  bool working_ = false;
  bool ending_ = false;
  std::thread thread_;
};

/// An event: what it was last recorded as; nothing before.
class Recorded {
 public:
  void set(std::shared_ptr<Mark> mark);
  std::shared_ptr<Mark> get();

 private:
  std::mutex mutex_;
  std::shared_ptr<Mark> mark_;
};

/// The one simulated device of a process.
class Device {
 public:
  static Device& instance();

  Queue* create(bool blocking);
  bool destroy(Queue* queue);
  /// The queue behind a handle: 0, 1 and 2 are the legacy one, as are 1 and 2 on a real device as
  /// long as no thread has a default stream of its own.
  Queue& at(Stream handle);
  /// Puts work on a stream with the implicit edges of the legacy one.
  void push(Stream handle, std::function<void()> work);
  std::shared_ptr<Mark> record(Stream handle);
  void synchronize();

  /// nullptr when there is no memory left.
  void* allocate(std::size_t bytes, Memory kind);
  /// False for what is not the beginning of an allocation. Freed memory is overwritten.
  bool free(void* begin);
  /// Bytes of device and managed memory that are allocated now.
  std::size_t allocated();
  struct Block {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
    Memory kind = Memory::Device;
  };
  /// The allocation that holds an address; nothing for memory of somebody else.
  std::optional<Block> block_of(const void* address);

  /// Whether delays spin instead of sleeping.
  bool spinning = false;

 private:
  Device();
  ~Device();
  void edges(Queue& to);

  std::mutex mutex_;
  Queue legacy_;
  std::map<Queue*, std::unique_ptr<Queue>> queues_;
  std::map<std::uintptr_t, Block> blocks_;
};

/// The simulated device as a table; always there.
const Table& table();

}  // namespace dlbench::device::sim
