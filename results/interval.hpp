#pragma once

#include <optional>

#include "model/entry.hpp"

namespace dlbench::results {

/// Turns what the workers measured of one cell into what is told of it.
///
/// One worker: its interval, widened by `between`, what one process may lie off, relative, at 95 %
/// (stats::between_half_width of the anchors). The two are independent, so the half-widths are
/// combined as the root of the sum of squares. Without it (fewer than two anchors) it stays as it
/// is and warns "one process". Several workers: the unit is the process. The median of their
/// medians, with the interval of order statistics where six of them allow one, else their range
/// widened in the same way. What was derived from the median follows it: floor_ratio, gb_per_s.
/// Below twice the floor it warns "near floor". Warnings that are there stay.
void conclude(Entry& entry, std::optional<double> between);

}  // namespace dlbench::results
