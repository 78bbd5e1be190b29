#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dlbench::exchange {

/// A run of pages of this process with one protection (PROT_READ and the like).
struct Mapping {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  int protection = 0;
};

/// The entries of /proc/self/maps for [begin, end), clipped to it, in order, without holes.
std::vector<Mapping> mappings_of(std::uintptr_t begin, std::uintptr_t end);

/// Is all of that memory mapped and readable?
bool is_readable(std::uintptr_t address, std::size_t bytes);

/// Threads of this process that block a signal. A fault in such a thread ends the process, whatever
/// handler is installed.
int threads_blocking(int signal);

}  // namespace dlbench::exchange
