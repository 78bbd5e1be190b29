#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "worker/library/devices.hpp"

namespace dlbench::worker {

/// The best rates of the device's own memcpy.
struct DeviceCopyFloors {
  /// In 10^9 bytes a second: "cuda:0" within the device, "cuda:0+cpu pinned" and "cpu+cuda:0
  /// pageable" to and from host memory; "cuda:0 65536" for blocks of that many bytes.
  std::map<std::string, double> gb_per_s;
  std::size_t bytes = 0;   ///< size of the copied block, if the name has none
  std::string host_waits;  ///< `context_flags` of the document; empty if not known
};

/// Copies blocks of 512 MiB, or smaller ones so that two blocks take at most a quarter of the free
/// memory of the device and of the host. The rate within the device is left out if its cache could
/// hold both blocks. Then blocks of each of `sizes`, which may be in a cache of the host. Timed by
/// events. Throws Failure.
DeviceCopyFloors device_copy_floors(const std::string& device, const DeviceAt& at,
                                    const std::vector<std::uint64_t>& sizes);

/// The size of such a block, in whole pages.
std::size_t copy_block_bytes(std::size_t device_free, std::size_t host_free);

}  // namespace dlbench::worker
