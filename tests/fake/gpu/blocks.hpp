#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "device/table.hpp"
#include "gpu/queues.hpp"

namespace dlbench::fake {

struct Block {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  device::Memory kind = device::Memory::Device;
  int device = 0;
  /// Whether the host sees what the device writes before it waits for the device.
  bool coherent = true;

  bool has(std::uintptr_t address, std::size_t length) const {
    return address >= begin && address - begin <= bytes && length <= bytes - (address - begin);
  }
};

/// All memory of the fake devices of a process.
class Blocks {
 public:
  static Blocks& instance();

  /// nullptr when there is no memory left. Device memory of a freed block of that size comes first,
  /// the last one freed before the others: without a wait in the `stream` where it was freed, in
  /// others when that stream has come so far.
  void* allocate(Block wanted, const void* stream = nullptr);
  /// False for what is not the beginning of an allocation. In a stream's order where it is freed by
  /// one, which has come so far at `mark`.
  bool free(void* begin, const void* stream = nullptr, std::shared_ptr<Mark> mark = nullptr);

  /// The allocation that holds an address; nothing for other memory of the host.
  std::optional<Block> find(std::uintptr_t address);
  /// Whether a host may name these bytes: of one allocation, or memory that is no device's.
  bool is_valid(std::uintptr_t address, std::size_t bytes);

  /// Whether a device reaches these bytes; it does not reach pageable memory of the host. A driver
  /// keeps the pages of freed memory: work that was queued before still reaches them.
  bool is_mapped(std::uintptr_t address, std::size_t bytes);
  bool is_coherent(std::uintptr_t address);
  /// A device writes; what lies in memory that is not coherent the host sees later.
  void store(std::uintptr_t to, const void* from, std::size_t bytes);
  /// A device copies, from and to what it wrote before.
  void copy(std::uintptr_t to, std::uintptr_t from, std::size_t bytes);
  /// Shows the host what devices wrote to memory that is not coherent.
  void publish();

 private:
  struct Freed {
    Block block;
    const void* stream;
    std::shared_ptr<Mark> mark;
  };
  struct Written {
    std::uintptr_t at;
    std::vector<char> bytes;
  };

  const Block* live(std::uintptr_t address) const;
  const Block* freed(std::uintptr_t address) const;
  void trim();

  std::mutex mutex_;
  std::map<std::uintptr_t, Block> live_;
  std::vector<Freed> freed_;
  std::vector<Written> written_;
};

}  // namespace dlbench::fake
