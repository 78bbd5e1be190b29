#include "blocks.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "calls.hpp"

namespace dlbench::fake {

namespace {

using device::Memory;

constexpr std::size_t alignment = 512;
constexpr int poison = 0xDD;
constexpr std::size_t most_freed_bytes = std::size_t{1} << 30;

void give_back(const Block& block) {
  std::free(reinterpret_cast<void*>(block.begin));
}

}  // namespace

bool is_poisoned() {
  return mode("DLBENCH_FAKE_POISON", 0) != 0;
}

Blocks& Blocks::instance() {
  // Never destroyed: queues may still work when the process ends.
  static Blocks& only = *std::make_unique<Blocks>().release();
  return only;
}

void* Blocks::allocate(std::size_t bytes, Memory kind, int device, const void* stream) {
  const std::lock_guard lock(mutex_);
  const auto fits = [&](const Freed& freed) {
    return freed.block.bytes == bytes && freed.block.kind == kind && freed.block.device == device &&
           (!freed.mark || (stream != nullptr && freed.stream == stream) || freed.mark->is_fired());
  };
  const auto last = std::find_if(freed_.rbegin(), freed_.rend(), fits);
  if (last != freed_.rend()) {
    const Block block = last->block;
    freed_.erase(std::next(last).base());
    live_[block.begin] = block;
    return reinterpret_cast<void*>(block.begin);
  }
  void* begin = nullptr;
  if (posix_memalign(&begin, alignment, std::max<std::size_t>(bytes, 1)) != 0) return nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  live_[address] = {address, bytes, kind, device};
  return begin;
}

bool Blocks::free(void* begin, const void* stream, std::shared_ptr<Mark> mark) {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(reinterpret_cast<std::uintptr_t>(begin));
  if (found == live_.end()) return false;
  const Block block = found->second;
  live_.erase(found);
  if (block.kind == Memory::Device && !is_poisoned()) {
    freed_.push_back({block, stream, std::move(mark)});
    trim();
    return true;
  }
  if (is_poisoned()) std::memset(begin, poison, block.bytes);
  give_back(block);
  return true;
}

// Beyond a limit the oldest go, so that a run with large arrays does not fill the machine.
void Blocks::trim() {
  std::size_t bytes = 0;
  for (const Freed& freed : freed_) bytes += freed.block.bytes;
  for (auto oldest = freed_.begin(); bytes > most_freed_bytes && oldest != freed_.end();) {
    if (oldest->mark && !oldest->mark->is_fired()) {
      ++oldest;
      continue;
    }
    bytes -= oldest->block.bytes;
    give_back(oldest->block);
    oldest = freed_.erase(oldest);
  }
}

std::optional<Block> Blocks::find(const void* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  const std::lock_guard lock(mutex_);
  auto after = live_.upper_bound(wanted);
  if (after == live_.begin()) return std::nullopt;
  const Block& block = (--after)->second;
  return wanted - block.begin < block.bytes ? std::optional(block) : std::nullopt;
}

}  // namespace dlbench::fake
