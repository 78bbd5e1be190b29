#pragma once

namespace dlbench::measure {

/// How fast this machine copies one array, in 10^9 bytes a second, by memcpy on one core.
struct CopyFloors {
  double warm_gb_per_s = 0;   ///< into memory that was written before
  double fresh_gb_per_s = 0;  ///< into pages the kernel hands out anew: it clears each one first
};

/// The best of several copies of 32 MiB each; tens of milliseconds, so once a run is enough. Throws
/// std::bad_alloc.
CopyFloors copy_floors();

}  // namespace dlbench::measure
