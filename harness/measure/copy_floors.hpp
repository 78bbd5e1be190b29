#pragma once

namespace dlbench::measure {

/// How fast this machine copies one array, in 10^9 bytes a second, by memcpy on one core.
struct CopyFloors {
  double warm_gb_per_s = 0;   ///< into memory that was written before
  double fresh_gb_per_s = 0;  ///< into new pages, which the kernel clears first
};

/// The best of several copies of 32 MiB each. It takes tens of milliseconds and is needed once a
/// run. Throws std::bad_alloc.
CopyFloors copy_floors();

}  // namespace dlbench::measure
