#pragma once

#include <optional>
#include <span>
#include <vector>

#include "stats/change.hpp"

namespace dlbench::stats {

/// The spread between the processes of one cell, within its sides.
struct Scatter {
  double length = 0;              ///< logarithm of the exchange's time
  double variance = 0;            ///< of the logarithms of the processes' medians
  double degrees_of_freedom = 0;  ///< 0 where each side is one process
};

/// std::invalid_argument as Changes::of().
Scatter scatter_of(const MeasuredSide& first, const MeasuredSide& second);

/// For each cell, in order: the prior for its spread, from the other cells of similar length.
/// Empirical Bayes (Smyth 2004, limma): the variances of the cells are taken to be draws from a
/// scaled inverse chi-squared distribution, whose two parameters are estimated from the mean and
/// the variance of their logarithms. None where fewer than four cells are similar.
///
/// The cells of a run share their processes, so they are not independent: a prior has at most
/// kMostPriorDegreesOfFreedom (tests/stats/moderation_test.cpp measures the false alarms).
std::vector<std::optional<Noise>> noise_of_similar_cells(std::span<const Scatter> cells);

inline constexpr double kMostPriorDegreesOfFreedom = 5;

}  // namespace dlbench::stats
