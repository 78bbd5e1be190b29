#pragma once

#include "model/entry.hpp"
#include "stats/process_spread.hpp"

namespace dlbench::results {

/// A median below this many floors is mostly the instrument's own time.
inline constexpr double kNearFloor = 2;

/// Turns what the workers measured of one cell into its numbers, and names the interval that it
/// is:
///   within     one worker: the interval of its rounds. Other processes may lie elsewhere; how far
///              is `between_half_width`, a number of its own.
///   processes  two workers or more: the unit is the process. The median of their medians, with the
///              interval of stats::process_interval, for which `spread` is known at this length.
///   range      one worker with too few rounds for an interval. What share it covers is not known.
/// What was derived from the median follows it: floor_ratio, gb_per_s. A cell of one worker warns
/// "one process" where `spread` has no exchanges of this length.
/// Below kNearFloor floors it warns "near floor". Warnings that are there stay.
void conclude(Entry& entry, const stats::ProcessSpread& spread);

}  // namespace dlbench::results
