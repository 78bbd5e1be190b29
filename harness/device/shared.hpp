#pragma once

#include <string_view>

#include "device/table.hpp"

namespace dlbench::device {

/// The room as one extension module of a process holds it, `dlbench._device`: streams and memory of
/// the simulated device are worth nothing to a second copy of the room. Whoever lives in another
/// extension module takes it from the capsule and links no room.
struct Shared {
  /// The backend of that name (`cuda`, `rocm`, `sim`), probed on first use; null for another name.
  const Backend* (*backend)(std::string_view name) = nullptr;
};

/// To be imported before the capsule is asked for: PyCapsule_Import itself imports `dlbench` only.
inline constexpr const char* shared_module = "dlbench._device";
inline constexpr const char* shared_name = "dlbench._device.shared";

}  // namespace dlbench::device
