#include "supervisor/process/device_memory.hpp"

#include <algorithm>

namespace dlbench::supervisor {

std::uint64_t DeviceMemory::add(const std::string& device, std::uint64_t free,
                                std::uint64_t total) {
  Known& known = devices_[device];
  const bool is_alone = known.living == 0;
  const std::uint64_t before = is_alone ? total : known.free;
  const std::uint64_t taken = before > free ? before - free : 0;
  known.free = free;
  ++known.living;
  if (!is_alone) {
    known.largest = known.is_guess ? taken : std::max(known.largest, taken);
    known.is_guess = false;
  } else if (known.is_guess) {
    // The memory of other programs cannot be distinguished from that of a lone worker.
    known.largest = taken;
  }
  return taken;
}

void DeviceMemory::add_unknown(const std::string& device) {
  devices_.try_emplace(device);
}

void DeviceMemory::release(const std::string& device, std::uint64_t taken) {
  Known& known = devices_[device];
  // The amount of a lone worker may include memory of other programs, which does not become free.
  known.free += std::min(taken, known.largest);
  if (known.living > 0) --known.living;
}

bool DeviceMemory::is_found_full(const std::string& device) {
  Known& known = devices_[device];
  if (!known.is_guess || known.is_found_full || has_room(device, 1)) return false;
  known.is_found_full = true;
  return true;
}

bool DeviceMemory::has_room(const std::string& device, std::size_t more) const {
  const auto found = devices_.find(device);
  if (found == devices_.end()) return more <= 1;
  // A worker uses more memory while it prepares than when it reports.
  constexpr double kHeadroom = 1.25;
  const double needed =
      kHeadroom * static_cast<double>(found->second.largest) * static_cast<double>(more);
  return static_cast<double>(found->second.free) >= needed;
}

}  // namespace dlbench::supervisor
