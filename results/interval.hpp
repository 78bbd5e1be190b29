#pragma once

#include "model/entry.hpp"

namespace dlbench::results {

/// Turns what the workers measured of one cell into what is told of it, and says which interval it
/// is:
///   within     one worker: the interval of its rounds. Other processes may lie elsewhere; by how
///              much is known of the reference exchange alone, and stands beside it in the context.
///   processes  six workers or more: the unit is the process. The median of their medians, with the
///              interval of order statistics.
///   range      two to five workers: from the lowest to the highest end of their intervals; or too
///              few rounds for an interval. What share it covers is not known.
/// What was derived from the median follows it: floor_ratio, gb_per_s. A cell of one worker warns
/// "one process" where `others_known` is false: no second worker measured the reference exchange.
/// Below twice the floor it warns "near floor". Warnings that are there stay.
void conclude(Entry& entry, bool others_known);

}  // namespace dlbench::results
