#pragma once

#include <cstddef>
#include <span>

namespace dlbench::stats {

/// Defects of a series of rounds that its interval does not show. Times must be above 0. The
/// false-positive rate is at most 1 % (tests/core/stats/shape_test.cpp).

/// Do the values form two groups, so that the median depends on chance? Each group has at least a
/// quarter of the values, and the gap is at least 30/n times the width of the groups and at least a
/// twentieth of the median. False for fewer than twelve values.
bool is_bimodal(std::span<const double> values);

/// Do the values rise or fall over time? Requires Kendall's test at a level of 0.5 % and a change
/// of at least a twentieth between the first and the last third. False for fewer than six values.
/// With several `rows` the level holds for all of them together.
bool drifts(std::span<const double> values, std::size_t rows = 1);

}  // namespace dlbench::stats
