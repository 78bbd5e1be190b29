#include "gpu/blocks.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "calls.hpp"
#include "gpu/ledger.hpp"

namespace dlbench::fake {

namespace {

using device::Memory;

constexpr std::size_t alignment = 512;
constexpr std::size_t most_freed_bytes = std::size_t{1} << 30;

void* pointer(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);
}

void release_block(const Block& block) {
  std::free(pointer(block.begin));
}

bool is_of_device(const Block& block) {
  return block.kind != Memory::Pinned;
}

}  // namespace

Blocks& Blocks::instance() {
  // Never destroyed: queues may still work when the process ends.
  static Blocks& only = *std::make_unique<Blocks>().release();
  return only;
}

void* Blocks::allocate(Block wanted, const void* stream) {
  if (is_of_device(wanted) && allocate_memory(wanted.device, wanted.bytes) != 0) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto fits = [&](const Freed& freed) {
    return freed.block.bytes == wanted.bytes && freed.block.kind == wanted.kind &&
           freed.block.device == wanted.device &&
           (!freed.mark || (stream != nullptr && freed.stream == stream) || freed.mark->is_fired());
  };
  const auto last = std::find_if(freed_.rbegin(), freed_.rend(), fits);
  if (last != freed_.rend()) {
    wanted.begin = last->block.begin;
    freed_.erase(std::next(last).base());
  } else {
    void* begin = nullptr;
    const std::size_t bytes = std::max<std::size_t>(wanted.bytes, 1);
    if (posix_memalign(&begin, alignment, bytes) != 0) return nullptr;
    wanted.begin = reinterpret_cast<std::uintptr_t>(begin);
  }
  live_[wanted.begin] = wanted;
  return pointer(wanted.begin);
}

bool Blocks::free(void* begin, const void* stream, std::shared_ptr<Mark> mark) {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(reinterpret_cast<std::uintptr_t>(begin));
  if (found == live_.end()) return false;
  const Block block = found->second;
  live_.erase(found);
  std::erase_if(written_, [&](const Written& one) { return block.has(one.at, 1); });
  if (is_of_device(block)) release_memory(block.device, block.bytes);
  if (block.kind == Memory::Device) {
    freed_.push_back({block, stream, std::move(mark)});
    trim();
    return true;
  }
  release_block(block);
  return true;
}

// Beyond a limit the oldest go, so that a run with large arrays does not fill the machine.
void Blocks::trim() {
  std::size_t bytes = 0;
  for (const Freed& one : freed_) bytes += one.block.bytes;
  for (auto oldest = freed_.begin(); bytes > most_freed_bytes && oldest != freed_.end();) {
    if (oldest->mark && !oldest->mark->is_fired()) {
      ++oldest;
      continue;
    }
    bytes -= oldest->block.bytes;
    release_block(oldest->block);
    oldest = freed_.erase(oldest);
  }
}

const Block* Blocks::live(std::uintptr_t address) const {
  auto after = live_.upper_bound(address);
  if (after == live_.begin()) return nullptr;
  const Block& block = (--after)->second;
  return block.has(address, 1) ? &block : nullptr;
}

const Block* Blocks::freed(std::uintptr_t address) const {
  for (const Freed& one : freed_) {
    if (one.block.has(address, 1)) return &one.block;
  }
  return nullptr;
}

std::optional<Block> Blocks::find(std::uintptr_t address) {
  const std::lock_guard lock(mutex_);
  const Block* const block = live(address);
  return block == nullptr ? std::nullopt : std::optional(*block);
}

bool Blocks::is_valid(std::uintptr_t address, std::size_t bytes) {
  if (bytes == 0) return true;
  const std::lock_guard lock(mutex_);
  if (const Block* const block = live(address)) return block->has(address, bytes);
  return address != 0 && freed(address) == nullptr;
}

bool Blocks::is_mapped(std::uintptr_t address, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const Block* block = live(address);
  if (block == nullptr) block = freed(address);
  return block != nullptr && block->has(address, bytes);
}

bool Blocks::is_coherent(std::uintptr_t address) {
  const std::lock_guard lock(mutex_);
  const Block* const block = live(address);
  return block == nullptr || block->coherent;
}

void Blocks::store(std::uintptr_t to, const void* from, std::size_t bytes) {
  if (!is_coherent(to)) {
    const char* const first = static_cast<const char*>(from);
    const std::lock_guard lock(mutex_);
    written_.push_back({to, {first, first + bytes}});
    return;
  }
  // A host that polls a word sees its old or its new value.
  if (bytes == sizeof(std::uint32_t) && to % bytes == 0) {
    std::uint32_t word = 0;
    std::memcpy(&word, from, bytes);
    __atomic_store_n(static_cast<std::uint32_t*>(pointer(to)), word, __ATOMIC_RELEASE);
  } else if (bytes == sizeof(std::uint64_t) && to % bytes == 0) {
    std::uint64_t word = 0;
    std::memcpy(&word, from, bytes);
    __atomic_store_n(static_cast<std::uint64_t*>(pointer(to)), word, __ATOMIC_RELEASE);
  } else {
    std::memcpy(pointer(to), from, bytes);
  }
}

void Blocks::copy(std::uintptr_t to, std::uintptr_t from, std::size_t bytes) {
  if (is_coherent(from)) {
    store(to, pointer(from), bytes);
    return;
  }
  const char* const begin = static_cast<const char*>(pointer(from));
  std::vector<char> observed(begin, begin + bytes);
  {
    const std::lock_guard lock(mutex_);
    for (const Written& one : written_) {
      const auto first = std::max(one.at, from);
      const auto last = std::min(one.at + one.bytes.size(), from + bytes);
      if (first >= last) continue;
      std::memcpy(&observed[first - from], &one.bytes[first - one.at], last - first);
    }
  }
  store(to, observed.data(), bytes);
}

void Blocks::publish() {
  const std::lock_guard lock(mutex_);
  for (const Written& one : written_) {
    std::memcpy(pointer(one.at), one.bytes.data(), one.bytes.size());
  }
  written_.clear();
}

}  // namespace dlbench::fake
