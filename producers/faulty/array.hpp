#pragma once

#include <array>

#include "../native/array.hpp"
#include "fault.hpp"
#include "pages.hpp"

namespace dlbench::faulty {

/// The producer's faults, in the order of kFaults.
enum class Kind : std::size_t {
  honest,
  slow_query,
  slow_export,
  host_wait,
  slow_release,
  silent_copy,
  hiding_is_copied,
  lying_is_copied,
  copy_back,
  lazy_copy,
  double_map,
  values_changed,
  wrong_byte_offset,
  wrong_strides,
  wrong_shape,
  wrong_dtype,
  wrong_device,
  wrong_name,
  stale_version,
  read_only_missing,
  early_free,
  double_free,
  never_free,
  null_deleter,
  no_wait,
  wrong_stream,
  host_sync,
  wrong_copy,
};

inline constexpr std::array<std::string_view, 28> kFaults{
    "honest",       "slow-query",       "slow-export",       "host-wait",     "slow-release",
    "silent-copy",  "hiding-is-copied", "lying-is-copied",   "copy-back",     "lazy-copy",
    "double-map",   "values-changed",   "wrong-byte-offset", "wrong-strides", "wrong-shape",
    "wrong-dtype",  "wrong-device",     "wrong-name",        "stale-version", "read-only-missing",
    "early-free",   "double-free",      "never-free",        "null-deleter",  "no-wait",
    "wrong-stream", "host-sync",        "wrong-copy"};

/// The native producer's array with a fault.
struct Array {
  native::Array native;
  Fault* fault;  // owned; null if the array is a foreign tensor
  std::shared_ptr<Pages> pages;
  std::size_t residue;
  // A tensor without a deleter is exported once and never freed.
  DLManagedTensorVersioned* endless;
  DLManagedTensor* endless_legacy;
};

inline Array& array_of(PyObject* self) {
  return *reinterpret_cast<Array*>(self);
}
inline Kind kind_of(const Array& array) {
  return array.fault == nullptr ? Kind::honest : static_cast<Kind>(array.fault->kind);
}

/// The memory that is exported instead of the array's own; null if that is exported.
inline native::Block::Owner other_memory(Array& array) {
  const native::Block& own = *array.native.block;
  switch (kind_of(array)) {
    case Kind::silent_copy:
    case Kind::hiding_is_copied:
    case Kind::copy_back:
    case Kind::early_free:
      return native::Block::copy_of(own.layout(), own.address());
    case Kind::lazy_copy:
      return map_block(own.layout(), array.pages, array.residue, MAP_PRIVATE);
    case Kind::double_map:
      return map_block(own.layout(), array.pages, array.residue, MAP_SHARED);
    default:
      return nullptr;
  }
}

/// Sets the first element to zero, which differs from the expected content.
inline void change_values(const native::Block& block) {
  if (block.extent() > 0) std::memset(block.address(), 0, block.layout().dtype->bytes);
}

/// A copy of a buffer in separate pages, with the same layout. Twice the size is mapped, so that a
/// consumer with wrong strides reads zeros instead of crashing.
inline void fill(Array& array, native::Layout layout, const void* source) {
  constexpr std::size_t kPage = 4096;
  const auto low = static_cast<const std::byte*>(source) + layout.low();
  const auto extent = static_cast<std::size_t>(layout.high() - layout.low());
  array.residue = reinterpret_cast<std::uintptr_t>(low) % kPage;
  array.pages = std::make_shared<Pages>(array.residue + 2 * extent + kPage);
  const std::intptr_t begin = layout.low();
  native::Block::Owner block = map_block(std::move(layout), array.pages, array.residue, MAP_SHARED);
  std::memcpy(block->address() + begin, low, extent);
  array.native.block = block.release();
}

}  // namespace dlbench::faulty
