#pragma once

#include "block.hpp"
#include "place.hpp"

namespace dlbench::native {

/// One allocation on a device, as a managed tensor for a Block.
struct Deposit {
  DLManagedTensorVersioned managed{};
  Place* place = nullptr;
  device::Memory kind = device::Memory::Device;
  void* memory = nullptr;

  ~Deposit() {
    if (memory == nullptr) return;
    const device::Table& table = place->table();
    const device::Entered inside = place->enter();
    if (kind == device::Memory::Pinned) {
      table.free_pinned(memory);
    } else {
      table.free(Place::number(memory));
    }
  }
  /// Called on any thread, without the GIL.
  static void release_managed(DLManagedTensorVersioned* managed) {
    const std::unique_ptr<Deposit> gone(static_cast<Deposit*>(managed->manager_ctx));
  }
};

/// Allocates memory of that kind; false with an exception set.
inline bool allocate(Deposit& deposit, std::size_t bytes) {
  const Place& place = *deposit.place;
  const device::Table& table = place.table();
  if (place.device(deposit.kind).device_type == 0) {
    PyErr_Format(PyExc_BufferError, "DLPack has no device type for such memory of %s",
                 table.name.data());
    return false;
  }
  const device::Entered inside = place.enter();
  if (!place.is_entered(inside)) return false;
  device::Address address = 0;
  switch (deposit.kind) {
    case device::Memory::Pinned:
      return good(table, "pinned memory", table.allocate_pinned(&deposit.memory, bytes));
    case device::Memory::Managed:
      if (!good(table, "managed memory", table.allocate_managed(&address, bytes))) return false;
      break;
    default:
      if (!good(table, "memory", table.allocate(&address, bytes))) return false;
  }
  deposit.memory = reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
  return true;
}

/// A block of such memory, uninitialized, at the same distance from the start of a page as `like`;
/// null with an exception set.
inline Block::Owner device_block(Layout layout, const void* like, Place& place,
                                 device::Memory kind) {
  constexpr std::uintptr_t kPage = 4096;
  auto deposit = std::make_unique<Deposit>();
  deposit->place = &place;
  deposit->kind = kind;
  const auto low =
      reinterpret_cast<std::uintptr_t>(like) + static_cast<std::uintptr_t>(layout.low());
  const auto extent = static_cast<std::size_t>(layout.high() - layout.low());
  // Drivers align allocations to at least 256 bytes. For a larger alignment the array begins after
  // the start.
  const std::size_t residue = low % kPage;
  if (!allocate(*deposit, residue + std::max<std::size_t>(extent, 1))) return nullptr;
  DLManagedTensorVersioned& managed = deposit->managed;
  managed.manager_ctx = deposit.get();
  managed.deleter = &Deposit::release_managed;
  managed.dl_tensor.data = static_cast<std::byte*>(deposit->memory) + residue - layout.low();
  managed.dl_tensor.device = place.device(kind);
  return Block::around(std::move(layout), &deposit.release()->managed);
}

}  // namespace dlbench::native
