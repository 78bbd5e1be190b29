#pragma once

#include <map>
#include <string>

#include "worker/devices.hpp"

namespace dlbench::worker {

/// What the device's own memcpy reaches at best, in 10^9 bytes a second, 32 MiB in a block:
/// "cuda:0" within it, "cuda:0+cpu pinned" and "cpu+cuda:0 pageable" to and from the host's memory.
/// Throws Failure.
std::map<std::string, double> device_copy_floors(const std::string& device, const DeviceAt& at);

}  // namespace dlbench::worker
