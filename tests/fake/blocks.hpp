#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "device/table.hpp"
#include "queues.hpp"

namespace dlbench::fake {

struct Block {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  device::Memory kind = device::Memory::Device;
  int device = 0;
};

/// Whether freed memory is overwritten.
bool is_poisoned();

/// All memory of the fake devices of a process.
class Blocks {
 public:
  static Blocks& instance();

  /// nullptr when there is no memory left. Device memory of a freed block of that size comes first,
  /// the last one freed before the others: without a wait in the `stream` where it was freed, in
  /// others when that stream has come so far.
  void* allocate(std::size_t bytes, device::Memory kind, int device, const void* stream = nullptr);
  /// False for what is not the beginning of an allocation. In a stream's order where it is freed by
  /// one, which has come so far at `mark`.
  bool free(void* begin, const void* stream = nullptr, std::shared_ptr<Mark> mark = nullptr);
  /// The allocation that holds an address; nothing for other memory of the host.
  std::optional<Block> find(const void* address);

 private:
  struct Freed {
    Block block;
    const void* stream;
    std::shared_ptr<Mark> mark;
  };

  void trim();

  std::mutex mutex_;
  std::map<std::uintptr_t, Block> live_;
  std::vector<Freed> freed_;
};

}  // namespace dlbench::fake
