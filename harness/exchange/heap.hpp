#pragma once

#include <cstddef>
#include <optional>

namespace dlbench::exchange {

/// The bytes that malloc has allocated in this process. None for glibc before 2.33, which counts in
/// 32 bits, and for other C libraries.
std::optional<std::size_t> heap_bytes();

}  // namespace dlbench::exchange
