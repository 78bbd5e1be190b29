#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>

namespace dlbench::supervisor {

/// The memory of the machine, or of the control group if that is smaller, in bytes.
struct Memory {
  std::uint64_t total = 0;
  std::uint64_t available = 0;

  /// Is less than this share available? False if the memory is unknown (no /proc).
  bool is_below(double share) const {
    return static_cast<double>(available) < share * static_cast<double>(total);
  }
};
/// `root` is the root of the file system; tests pass a fake one.
Memory memory(const std::filesystem::path& root = "/");

/// The resident memory of a process in bytes; 0 if unknown.
std::uint64_t resident_bytes(pid_t process);

/// The number of processes that the kernel has killed so far because memory ran out; 0 if the
/// kernel does not report it.
std::uint64_t oom_kills();

}  // namespace dlbench::supervisor
