#pragma once

#include <unistd.h>

#include <cstdint>

namespace dlbench {

/// The size of a memory page on this machine.
inline std::uint64_t page_bytes() {
  static const auto bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace dlbench
