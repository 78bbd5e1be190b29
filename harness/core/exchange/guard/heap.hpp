#pragma once

#include <cstddef>
#include <optional>

namespace dlbench::exchange {

/// The bytes that malloc has allocated in this process. None for glibc before 2.33, which counts in
/// 32 bits, and for other C libraries.
std::optional<std::size_t> heap_bytes();

/// Makes glibc's malloc keep freed blocks of less than 32 MiB, as in a program that has freed a
/// large array. A new process returns them to the kernel until then, so the time of a copy would
/// depend on the arrays that were freed before it. Does nothing if GLIBC_TUNABLES or mallopt() set
/// the thresholds, and for other C libraries.
void raise_heap_thresholds();

}  // namespace dlbench::exchange
