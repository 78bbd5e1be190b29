#pragma once

#include <cstddef>
#include <span>

namespace dlbench::stats {

/// Defects of a series of rounds that its interval does not show. Times must be above 0. The
/// false-positive rate is at most 1 % (tests/stats/shape_test.cpp).

/// Do the values form two groups? Each has at least a quarter of the values, and the gap between
/// them is wide compared with the groups (30 over the number of values) and at least a twentieth of
/// the median. The median is then in one of them by chance. Needs twelve values.
bool is_bimodal(std::span<const double> values);

/// Do the values, in the order of time, rise or fall? Kendall's test at 0.5 %, and between the
/// first and the last third a change of at least a twentieth. Needs six values. For several `rows`,
/// the 0.5 % hold for all of them together.
bool drifts(std::span<const double> values, std::size_t rows = 1);

}  // namespace dlbench::stats
