#pragma once

#include <array>
#include <string_view>

#include "device/table.hpp"

namespace dlbench::device {

/// The kinds of device that have a backend; a SYCL queue belongs to its library.
inline constexpr std::array<std::string_view, 4> backend_names{"cpu", "cuda", "rocm", "sim"};

/// Opened at the first question of this process, so ask after the measured libraries were imported:
/// a driver that they brought along is shared. No context is made before Table::enter. nullptr for
/// another name.
const Backend* backend(std::string_view name);

}  // namespace dlbench::device
