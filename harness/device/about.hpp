#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dlbench::device {

/// One device as its driver tells of it without a context. What it does not tell is empty.
struct Unit {
  std::string name;
  /// As CUDA_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES take it: "GPU-...".
  std::string uuid;
  /// "default", "exclusive", "prohibited" or "exclusive-process".
  std::string mode;
};

struct About {
  /// The file that was loaded, also where it is of no use.
  std::string library;
  /// What the driver calls its version: "13.0", "6.4.43483".
  std::string version;
  std::vector<Unit> units;
};

/// More of a backend than its state; opens it. Nothing of a name that has no driver.
About about(std::string_view backend);

/// The word for CUcomputemode and hipComputeMode; empty for another number.
std::string mode_of(int number);

/// "GPU-" and the bytes as CUDA writes them, or as characters where they are such, as in ROCm.
std::string uuid_of(const unsigned char (&bytes)[16]);

/// What a driver tells of one device; CUDA and HIP have the same functions for it. `compute_mode`
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
