#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dlbench::device {

/// Facts about one device from its driver, read without a context. An unknown fact is empty.
struct Unit {
  std::string name;
  /// In the form that CUDA_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES accept: "GPU-...".
  std::string uuid;
  /// "default", "exclusive", "prohibited" or "exclusive-process".
  std::string mode;
};

struct About {
  /// The file that was loaded, even if it is not usable.
  std::string library;
  /// The driver's version: "13.0", "6.4.43483".
  std::string version;
  std::vector<Unit> units;
};

/// The facts about a backend, which is opened. Empty for a name without a driver.
About about(std::string_view backend);

/// The name of a CUcomputemode or hipComputeMode; empty for an unknown value.
std::string mode_of(int number);

/// "GPU-" followed by the bytes in CUDA's notation, or as characters if they are printable (ROCm).
std::string uuid_of(const unsigned char (&bytes)[16]);

/// Reads the facts about one device. CUDA and HIP have the same functions for this. `compute_mode`
/// is the vendor's number of that attribute.
template <typename Uuid, typename Api>
Unit unit_of(const Api& api, int device, int compute_mode) {
  Unit unit;
  char name[256] = {};
  Uuid uuid{};
  int mode = 0;
  if (api.device_get_name(name, sizeof name, device) == 0) unit.name = name;
  if (api.device_get_uuid(&uuid, device) == 0) unit.uuid = uuid_of(uuid.bytes);
  if (api.device_get_attribute(&mode, compute_mode, device) == 0) unit.mode = mode_of(mode);
  return unit;
}

}  // namespace dlbench::device
