#pragma once

namespace dlbench::measure {

/// The rates at which memcpy copies on one core of this machine, in 10^9 bytes a second.
struct CopyFloors {
  double warm_gb_per_s = 0;   ///< into memory that was written before
  double fresh_gb_per_s = 0;  ///< into new pages, which the kernel clears first
};

/// The best of several copies of 32 MiB each. Takes tens of milliseconds. Throws std::bad_alloc.
CopyFloors copy_floors();

}  // namespace dlbench::measure
