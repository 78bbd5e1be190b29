#include "worker/library/device_memory.hpp"

#include <algorithm>
#include <utility>

#include "exchange/layout.hpp"

namespace dlbench::worker {
namespace {

using exchange::Extent;
using exchange::View;

constexpr unsigned kPoisonWord = 0xa5a5a5a5;

void copy_now(const DeviceAt& at, device::Address to, device::Address from, std::size_t bytes) {
  if (bytes == 0) return;
  const InDevice inside(at);
  settle(at);
  require(*at.table, "copy", at.table->copy(to, from, bytes, nullptr));
  settle(at);
}

/// Drivers fill words at aligned addresses only, so the bytes before and after them are copied.
void fill_now(const DeviceAt& at, device::Address begin, std::uint64_t bytes) {
  static constexpr unsigned char kPoisonBytes[sizeof kPoisonWord] = {0xa5, 0xa5, 0xa5, 0xa5};
  const device::Table& table = *at.table;
  const auto copy = [&](device::Address to, std::uint64_t some) {
    if (some > 0) require(table, "copy", table.copy(to, number(kPoisonBytes), some, nullptr));
  };
  const std::uint64_t head = std::min<std::uint64_t>(-begin % sizeof kPoisonWord, bytes);
  const std::uint64_t words = (bytes - head) / sizeof kPoisonWord;
  const std::uint64_t tail = bytes - head - words * sizeof kPoisonWord;
  copy(begin, head);
  if (words > 0) require(table, "fill", table.fill32(begin + head, kPoisonWord, words, nullptr));
  copy(begin + bytes - tail, tail);
}

/// Copies bytes between the host and the memory of a view.
class Reach : public exchange::Access {
 public:
  bool reaches(const exchange::Device& where) const override {
    return exchange::on_host(where) || device_at(where);
  }
  void load(const exchange::Device& where, std::uintptr_t from, void* to,
            std::size_t bytes) const override {
    if (const DeviceAt at = device_at(where); at && !exchange::on_host(where)) {
      copy_now(at, number(to), from, bytes);
    } else {
      if (at) settle(at);
      exchange::Access::load(where, from, to, bytes);
    }
  }
  void store(const exchange::Device& where, std::uintptr_t to, const void* from,
             std::size_t bytes) const override {
    if (const DeviceAt at = device_at(where); at && !exchange::on_host(where)) {
      copy_now(at, to, number(from), bytes);
    } else {
      exchange::Access::store(where, to, from, bytes);
    }
  }
};

}  // namespace

Held on_host_memory(Held held) {
  const DeviceAt at = device_at(held.view.device);
  if (!at) return held;
  settle(at);
  if (exchange::on_host(held.view.device)) return held;
  const Extent extent = exchange::extent_of(held.view);
  // The view may describe invalid memory, so use the bytes only after a successful copy.
  auto bytes =
      std::make_shared<std::vector<unsigned char>>(std::max<std::uint64_t>(extent.bytes(), 1));
  copy_now(at, number(bytes->data()), extent.begin, extent.bytes());
  Held copy{held.view, bytes};
  copy.view.address = number(bytes->data()) + (held.view.address - extent.begin);
  copy.view.device = {};
  return copy;
}

Proof write_through_anywhere(const View& source, const View& found) {
  return exchange::write_through(source, found, Reach());
}

void spoil(const View& view) {
  const DeviceAt at = device_at(view.device);
  if (!at || exchange::on_host(view.device)) return;
  const Extent extent = exchange::extent_of(view);
  const InDevice inside(at);
  settle(at);
  fill_now(at, extent.begin, extent.bytes());
  settle(at);
}

void spoil_freed_memory(const exchange::Device& where, std::uint64_t bytes) {
  constexpr std::size_t kBlocks = 3;
  const DeviceAt at = device_at(where);
  if (!at || exchange::on_host(where)) return;
  const InDevice inside(at);
  settle(at);
  std::vector<device::OwnMemory> blocks;
  for (std::size_t i = 0; i < kBlocks; ++i) {
    device::OwnMemory block(*at.table);
    if (block.create(bytes + 3) != 0) break;
    blocks.push_back(std::move(block));
    fill_now(at, blocks.back().get(), bytes);
  }
  settle(at);
}

}  // namespace dlbench::worker
