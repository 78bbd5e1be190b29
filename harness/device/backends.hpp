#pragma once

#include <array>
#include <string_view>

#include "device/table.hpp"

namespace dlbench::device {

/// The kinds of device that have a backend. SYCL has none, because its queues belong to the
/// library.
inline constexpr std::array<std::string_view, 4> backend_names{"cpu", "cuda", "rocm", "sim"};

/// Opens the backend on the first call in this process; null for an unknown name. Call it after the
/// measured libraries are imported, to share their driver. Creates no context before
/// Table::enter().
const Backend* backend(std::string_view name);

}  // namespace dlbench::device
