#pragma once

#include "results/comparison/compare.hpp"
#include "results/comparison/compare_side.hpp"

namespace dlbench::results {

/// Does the side have the cell? Null means that no cell has this name.
bool has_cell(const SideCell* cell);

/// A row with the data of both sides, before it is judged; one side may be null. For instructions,
/// a count that only one side has is lost or gained like a cell.
ComparedCell row_of(const SideCell* base, const SideCell* head, bool instructions);

/// Does one side have a time and the other only a bound from its device's timer?
bool is_below_once(const SideCell& base, const SideCell& head);

}  // namespace dlbench::results
