#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "device/table.hpp"

namespace dlbench::device {

/// The kinds of device that have a backend. SYCL has none, because its queues belong to the
/// library.
inline constexpr std::array<std::string_view, 4> backend_names{"cpu", "cuda", "rocm", "sim"};

/// Opens the backend on the first call in this process; null for an unknown name. Call it after the
/// measured libraries are imported, to share their driver. Creates no context before
/// Table::enter().
const Backend* backend(std::string_view name);

/// The files of a kind's driver or runtime that this process has loaded; empty for a kind without
/// one.
std::vector<std::string> loaded_files_of(std::string_view name);

}  // namespace dlbench::device
