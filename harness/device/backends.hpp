#pragma once

#include <array>
#include <string_view>

#include "device/table.hpp"

namespace dlbench::device {

/// The kinds of device that have a backend; a SYCL queue belongs to its library.
inline constexpr std::array<std::string_view, 4> backend_names{"cpu", "cuda", "rocm", "sim"};

/// Opens the backend on the first call in this process. Call it after the measured libraries were
/// imported, so that a driver that they loaded is shared. No context is made before Table::enter.
/// nullptr for an unknown name.
const Backend* backend(std::string_view name);

}  // namespace dlbench::device
