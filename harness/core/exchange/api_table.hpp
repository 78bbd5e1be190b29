#pragma once

#include <dlpack/dlpack.h>

#include <cstddef>
#include <cstdint>

namespace dlbench::exchange {

/// The table of the supported major version in a type's chain of tables, or the reason why it is
/// not usable. Both are null if all tables have other versions.
struct FoundTable {
  const DLPackExchangeAPI* table = nullptr;
  const char* flaw = nullptr;
};

/// Finds that table. The pointer may be invalid, so memory is read only if
/// `is_readable(address, bytes)` returns true.
template <typename IsReadable>
FoundTable find_table(const void* published, IsReadable is_readable) {
  // Newer major versions keep the header and link to older tables.
  constexpr int kMostTables = 64;
  const auto* header = static_cast<const DLPackExchangeAPIHeader*>(published);
  for (int i = 0; i < kMostTables; ++i, header = header->prev_api) {
    if (header == nullptr) return {};
    const auto address = reinterpret_cast<std::uintptr_t>(header);
    if (address % alignof(DLPackExchangeAPI) != 0 || !is_readable(address, sizeof *header)) {
      return {nullptr, "its pointer is misaligned or not readable"};
    }
    if (header->version.major != DLPACK_MAJOR_VERSION) continue;
    if (!is_readable(address, sizeof(DLPackExchangeAPI))) {
      return {nullptr, "its table cannot be read"};
    }
    const auto* table = reinterpret_cast<const DLPackExchangeAPI*>(header);
    if (table->managed_tensor_from_py_object_no_sync == nullptr) {
      return {nullptr, "managed_tensor_from_py_object_no_sync is NULL"};
    }
    return {table, nullptr};
  }
  return {nullptr, "its chain of prev_api tables is longer than 64"};
}

}  // namespace dlbench::exchange
