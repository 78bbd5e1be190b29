#pragma once

#include "results/compare.hpp"
#include "results/compare_side.hpp"

namespace dlbench::results {

/// Does the side have that cell? Null: it has none of that name.
bool is_there(const SideCell* cell);

/// What both sides have of a cell, before it is judged; one of them may be null. Of instructions a
/// count that one side alone has is lost or gained, as a cell is.
ComparedCell row_of(const SideCell* base, const SideCell* head, bool instructions);

/// Judges a cell of which one side has a time and the other takes less than its device's timer can
/// tell: SLOW or FAST where the whole interval lies above that by the threshold, else AMBIG. Leaves
/// all others alone; of two sides without a time neither is known to be slower.
void judge_below_resolution(ComparedCell& row, const SideCell& base, const SideCell& head,
                            double threshold);

}  // namespace dlbench::results
