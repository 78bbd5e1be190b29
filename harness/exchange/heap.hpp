#pragma once

#include <cstddef>
#include <optional>

namespace dlbench::exchange {

/// The bytes that malloc has allocated in this process. None where the C library does not count
/// them in full width: glibc before 2.33, and other C libraries.
std::optional<std::size_t> heap_bytes();

}  // namespace dlbench::exchange
