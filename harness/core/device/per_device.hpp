#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>

#include "device/table.hpp"

namespace dlbench::device {

/// One object for each device, made on first use and kept.
class PerDevice {
 public:
  /// Calls make(&made) under a lock. After a failure the next call tries again.
  template <typename Make>
  Code get(int device, void** found, Make&& make) {
    constexpr Code invalid_device = 101;  // the same number in CUDA and HIP
    if (device < 0 || static_cast<std::size_t>(device) >= made_.size()) return invalid_device;
    std::atomic<void*>& slot = made_[static_cast<std::size_t>(device)];
    if ((*found = slot.load(std::memory_order_acquire)) != nullptr) return 0;
    const std::lock_guard lock(mutex_);
    if ((*found = slot.load(std::memory_order_acquire)) != nullptr) return 0;
    const Code code = make(found);
    if (code == 0) slot.store(*found, std::memory_order_release);
    return code;
  }

 private:
  std::mutex mutex_;
  std::array<std::atomic<void*>, 64> made_{};
};

}  // namespace dlbench::device
