#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/entry.hpp"

namespace dlbench::results {

/// What a slope is judged by, of one environment.
struct CopySpeed {
  double warm_gb_per_s = 0;  ///< one core's best, into memory written before; 0: not known
  unsigned cores = 1;
};

/// The fewest bytes whose copying shows among what an exchange costs anyhow.
inline constexpr std::uint64_t kLeastSlopeBytes = 1 << 20;

/// Fills `evidence.slope` of each measured entry on the host of at least 1 MiB: does the exchange,
/// until the data is there (`ready` where the consumer has one, measured or not), take longer than
/// at a smaller size by what copying the difference takes at least? No copy is faster than sixteen
/// times the warm copy floor, or as many times as there are cores, or 100 GB/s, whichever is most:
/// caches, threads and a floor measured on a busy machine are in that.
/// - yes: it grows by less than half of that, or takes less in all than half a copy at that rate
/// - no: it grows by more than that
/// - skipped: the intervals leave it open, the time falls, or no smaller size was measured
/// Each size is judged by itself, so that a library that copies from some size on is seen to.
///
/// Then the order of trust is applied again: the slope is the last word where nothing else could
/// look but the values were compared, and warns where it disagrees. Of a result that nothing reads
/// it decides nothing: that may be no array. Call it before `conclude`: both sizes were
/// measured in one process.
void judge_slopes(std::vector<Entry>& entries, const std::map<std::string, CopySpeed>& speeds);

}  // namespace dlbench::results
