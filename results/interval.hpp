#pragma once

#include "model/entry.hpp"
#include "stats/process_spread.hpp"

namespace dlbench::results {

/// A median below this multiple of the overhead floor is mostly the instrument's own time.
inline constexpr double kNearFloor = 2;

/// Computes the numbers of a cell from those of its workers, and sets the kind of its interval:
///   within     one worker: the interval of its rounds. `between_half_width` is the spread of other
///              processes.
///   processes  at least two workers: the median of their medians, with the interval of
///              stats::process_interval() moderated by `spread`.
///   range      one worker with too few rounds for an interval; the coverage is unknown.
/// Updates the values that depend on the median: floor_ratio, gb_per_s. Warns "one process" if the
/// cell has one worker and `spread` has no exchanges of this duration, and "near floor" if the
/// median is below kNearFloor overhead floors. Keeps other warnings.
void conclude(Entry& entry, const stats::ProcessSpread& spread);

}  // namespace dlbench::results
