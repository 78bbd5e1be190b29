#include "fleet/device_memory.hpp"

#include <algorithm>

namespace dlbench::fleet {

std::uint64_t DeviceMemory::add(const std::string& device, std::uint64_t free,
                                std::uint64_t total) {
  const auto [found, is_first] = devices_.try_emplace(device);
  Known& known = found->second;
  const std::uint64_t before = is_first ? total : known.free;
  const std::uint64_t taken = before > free ? before - free : 0;
  known.free = free;
  if (is_first) {
    known.largest = taken;
  } else {
    // What other programs hold is in the first worker's share, and in no later one's.
    known.largest = known.is_guess ? taken : std::max(known.largest, taken);
    known.is_guess = false;
  }
  return taken;
}

void DeviceMemory::add_unknown(const std::string& device) {
  devices_.try_emplace(device, Known{0, 0, true});
}

void DeviceMemory::release(const std::string& device, std::uint64_t taken) {
  devices_[device].free += taken;
}

bool DeviceMemory::has_room(const std::string& device, std::size_t more) const {
  const auto found = devices_.find(device);
  if (found == devices_.end()) return more <= 1;
  // While it prepares, a worker holds more than when it reports.
  constexpr double kHeadroom = 1.25;
  const double needed =
      kHeadroom * static_cast<double>(found->second.largest) * static_cast<double>(more);
  return static_cast<double>(found->second.free) >= needed;
}

}  // namespace dlbench::fleet
