#pragma once

#include "results/compare.hpp"
#include "results/compare_side.hpp"

namespace dlbench::results {

/// Does the side have that cell? Null: it has none of that name.
bool is_there(const SideCell* cell);

/// What both sides have of a cell, before it is judged; one of them may be null. Of instructions a
/// count that one side alone has is lost or gained, as a cell is.
ComparedCell row_of(const SideCell* base, const SideCell* head, bool instructions);

/// Has one side a time, where the other takes less than its device's timer can resolve?
bool is_below_once(const SideCell& base, const SideCell& head);

}  // namespace dlbench::results
