#pragma once

#include <string_view>

#include "device/table.hpp"

namespace dlbench::device {

/// The device room as one extension module, `dlbench._device`: streams and memory of the simulated
/// device are invalid in a second copy of the room. Other extension modules use it through the
/// capsule and do not link the room.
struct Shared {
  /// The backend of that name (`cuda`, `rocm`, `sim`), opened on first use; null for an unknown
  /// name.
  const Backend* (*backend)(std::string_view name) = nullptr;
};

/// Import it before PyCapsule_Import, which itself imports `dlbench` only.
inline constexpr const char* shared_module = "dlbench._device";
inline constexpr const char* shared_name = "dlbench._device.shared";

}  // namespace dlbench::device
