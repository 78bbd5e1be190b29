#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "device/table.hpp"

namespace dlbench::device {

/// The interface of the extension module `dlbench._device`. Other extension modules use devices
/// through its capsule and do not link them, because streams and memory of the simulated device are
/// invalid in a second copy.
struct Shared {
  /// The backend with this name (`cuda`, `rocm`, `sim`), opened on first use; null for an unknown
  /// name.
  const Backend* (*backend)(std::string_view name) = nullptr;
  /// The files of this kind's driver or runtime that the process has loaded. With more than one the
  /// backend cannot be used.
  std::vector<std::string> (*loaded_files)(std::string_view name) = nullptr;
};

/// Import this module before PyCapsule_Import(), which imports `dlbench` only.
inline constexpr const char* shared_module = "dlbench._device";
inline constexpr const char* shared_name = "dlbench._device.shared";

}  // namespace dlbench::device
