#pragma once

#include <map>

#include "results/comparison/compare_side.hpp"

namespace dlbench::results {

/// The speed of the cores of a place on both sides: the median over cells and workers of the time
/// of the computation that is timed beside each round.
struct CoreSpeed {
  double base_ns = 0, head_ns = 0;

  /// The logarithm of head's time divided by base's.
  double change() const;
};

/// Scales the times of both sides to the speed that base's cores had, for each cell with
/// `cores_ns`; such cells are then `at_one_speed`. Clock rates change by some percent from minute
/// to minute, and an exchange takes as many cycles at each.
///
/// Without `between_sides` each side keeps its own speed, only the scatter of its workers is
/// removed, and the result is empty. This is for environments that are measured alternately: their
/// speeds do not differ by the time of their measurement.
std::map<Place, CoreSpeed> put_at_one_speed(Side& base, Side& head, bool between_sides);

/// The logarithm by which the cell's own cores slowed down from base to head, beyond those of its
/// place. The library may be the cause: vector instructions lower the clock rate, and threads that
/// continue after an exchange share the core.
double slowed_by_cell(const SideCell& base, const SideCell& head, const CoreSpeed& place);

}  // namespace dlbench::results
