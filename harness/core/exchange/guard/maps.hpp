#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dlbench::exchange {

/// A range of pages of this process with the same protection (PROT_READ and others).
struct Mapping {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  int protection = 0;
};

/// The entries of /proc/self/maps for [begin, end), clipped to it, in order, without holes.
std::vector<Mapping> mappings_of(std::uintptr_t begin, std::uintptr_t end);

/// The same from the file's text, for kernels before 6.11. Takes a millisecond for thousands of
/// mappings; the kernel's query for a range takes microseconds.
std::vector<Mapping> mappings_in_text(std::uintptr_t begin, std::uintptr_t end);

/// Is the whole range mapped and readable?
bool is_readable(std::uintptr_t address, std::size_t bytes);

/// The number of threads of this process that block a signal, except jemalloc's, which read no
/// array. Waits for threads that are just starting or ending, which block all signals for a moment.
/// A fault in a thread that blocks SIGSEGV ends the process despite the handler.
int threads_blocking(int signal);

}  // namespace dlbench::exchange
