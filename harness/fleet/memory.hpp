#pragma once

#include <cstdint>

namespace dlbench::fleet {

/// Bytes of memory, of the machine or of the control group where that is smaller.
struct Memory {
  std::uint64_t total = 0;
  std::uint64_t available = 0;

  /// Is less than a quarter left? Unknown memory (no /proc) is never short.
  bool is_short() const { return available < total / 4; }
};
Memory memory();

/// How many processes the kernel has killed for want of memory so far; 0 where it does not say.
std::uint64_t oom_kills();

}  // namespace dlbench::fleet
