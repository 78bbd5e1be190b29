#pragma once

#include <cstddef>

namespace dlbench::measure {

/// The rates at which memcpy copies on one core of this machine, in 10^9 bytes a second.
struct CopyFloors {
  double warm_gb_per_s = 0;   ///< into memory that was written before
  double fresh_gb_per_s = 0;  ///< into new pages, which the kernel clears first
};

/// The block of the floors without a size: larger than most caches.
inline constexpr std::size_t kCopyBytes = 32 << 20;

/// The best of several copies of this size. Takes milliseconds for each MiB. Throws std::bad_alloc.
CopyFloors copy_floors(std::size_t bytes = kCopyBytes);

}  // namespace dlbench::measure
