#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>

namespace dlbench::fleet {

/// Bytes of memory, of the machine or of the control group where that is smaller.
struct Memory {
  std::uint64_t total = 0;
  std::uint64_t available = 0;

  /// Is less than this share of it left? Unknown memory (no /proc) is never short.
  bool is_below(double share) const {
    return static_cast<double>(available) < share * static_cast<double>(total);
  }
};
/// `root`: of the file system, so that a test can plant a machine.
Memory memory(const std::filesystem::path& root = "/");

/// Bytes of memory that a process has; 0 where that is not known.
std::uint64_t resident_bytes(pid_t process);

/// How many processes the kernel has killed because memory ran out so far; 0 where the kernel does
/// not report it.
std::uint64_t oom_kills();

}  // namespace dlbench::fleet
