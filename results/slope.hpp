#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/entry.hpp"

namespace dlbench::results {

/// The copy speed of one environment, with which slopes are compared.
struct CopySpeed {
  /// Best rate of one core, into memory that was written before; 0: unknown.
  double warm_gb_per_s = 0;
  unsigned cores = 1;
};

/// The smallest size at which a copy is visible in the time of an exchange.
inline constexpr std::uint64_t kLeastSlopeBytes = 1 << 20;

/// Fills `evidence.slope` of each measured entry on the host of at least 1 MiB. It compares the
/// growth of the time since a smaller size, until the data is complete (`ready` if the consumer has
/// one), with the shortest time of copying the additional bytes. The fastest possible copy is the
/// largest of sixteen times the warm copy floor, the floor times the number of cores, and 100 GB/s,
/// which allows for caches, threads, and a floor that was measured on a busy machine.
/// - yes: the growth is below half of that time, or the whole time is below half of a copy
/// - no: the growth is larger
/// - skipped: the intervals decide neither, the time decreases, or no smaller size was measured
/// Each size is judged separately, because a library may copy only above some size.
///
/// Then the outcome is judged again. The slope decides if no other instrument has a result and the
/// values were compared; it does not prove sharing if a first call took longer than a warm copy,
/// which the library may keep. A disagreement causes a warning. It is ignored if the result could
/// not be read. Call it before conclude(), while the numbers are those of one process.
void judge_slopes(std::vector<Entry>& entries, const std::map<std::string, CopySpeed>& speeds);

}  // namespace dlbench::results
