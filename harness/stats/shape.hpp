#pragma once

#include <cstddef>
#include <span>

namespace dlbench::stats {

/// What is wrong with a row of rounds that its interval does not tell. Both ask for times above 0
/// and are wrong in at most one of a hundred honest rows (tests/stats/shape_test.cpp).

/// Two groups with nothing in between: a quarter of the values at least in each, and a gap that is
/// wide against the groups (30 over the number of values) and at least a twentieth of the median.
/// Which of the two the median falls into is then chance. Needs twelve values.
bool is_bimodal(std::span<const double> values);

/// Do the values, in the order of time, rise or fall? Kendall's test at 0.5 %, and between the
/// first and the last third a change of at least a twentieth. Needs six values. Where it is asked
/// of each of several `rows`, it is at 0.5 % of them all.
bool drifts(std::span<const double> values, std::size_t rows = 1);

}  // namespace dlbench::stats
