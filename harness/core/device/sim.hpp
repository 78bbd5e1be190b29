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

/// A simulated device made of threads, with streams, events, delays, and memory that is overwritten
/// when it is freed. The classifier of synchronization is tested with it, and the tests' fake
/// vendor libraries use it.
namespace dlbench::device::sim {

/// Monotonic nanoseconds: the clock of the simulated device and of its host.
std::int64_t now();

/// Sleeps, or spins, for `ns`. Spinning takes longer on a busy machine.
void pass(std::int64_t ns, bool spinning);

/// A mark that fires once. Shared by the stream that records it and those that wait for it.
class Mark {
 public:
  void fire();
  void wait();
  bool fired();
  /// now() when it fired; 0 before.
  std::int64_t at();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t at_ = 0;
};

/// A queue and the thread that runs its work in order.
class Queue {
 public:
  explicit Queue(bool blocking);
  /// Finishes the queued work.
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// Is it implicitly ordered with the legacy stream?
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

/// An event: the last recorded mark; empty if none.
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
  /// The queue of a handle. 0, 1 and 2 are the legacy stream, as on a real device without
  /// per-thread default streams.
  Queue& at(Stream handle);
  /// Submits work to a stream, with the implicit order of the legacy stream.
  void push(Stream handle, std::function<void()> work);
  std::shared_ptr<Mark> record(Stream handle);
  void synchronize();

  /// Null if no memory is left.
  void* allocate(std::size_t bytes, Memory kind);
  /// Frees and overwrites an allocation. Returns false if the address is not the beginning of one.
  bool free(void* begin);
  /// The bytes of allocated device and managed memory.
  std::size_t allocated();
  struct Block {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
    Memory kind = Memory::Device;
  };
  /// The allocation that contains an address; nothing for other memory.
  std::optional<Block> block_of(const void* address);

  /// Do delays spin instead of sleep?
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

/// The simulated device as a table; always available.
const Table& table();

}  // namespace dlbench::device::sim
