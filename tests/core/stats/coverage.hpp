#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "random.hpp"
#include "stats/stopping.hpp"

namespace dlbench::stats {

/// Fills a cell's rounds in the order of time. The rounds of a pass lie together.
using Draw = std::function<void(Random&, std::span<double>)>;

/// Rounds drawn from anywhere in a long record, as rounds are that a worker deals over all its
/// cells.
Draw resampled(std::vector<double> record);

/// Each pass drawn from a quarter of the record, the next from the quarter behind it: what remains
/// of the record's drift.
Draw resampled_in_blocks(std::vector<double> record, std::size_t pass);

struct Coverage {
  std::string source;
  double share = 0;   ///< of the trials whose interval held the truth
  double rounds = 0;  ///< in the mean, when they stopped
};

/// How often the interval of a cell that stops by `stopping` holds `truth`. Trial i depends on the
/// seed and i alone.
Coverage coverage(std::string source, const Draw& draw, double truth, const Stopping& stopping,
                  std::size_t trials, std::uint64_t seed);

/// The same over `recorded_rounds()`, whose truth is a record's own median.
std::vector<Coverage> recorded_coverage(const Stopping& stopping, std::size_t trials,
                                        std::uint64_t seed);

/// And over distributions whose median is known: normal, skewed, with outliers, bimodal, drifting,
/// each at spreads around the precision, where stopping early does the most harm.
std::vector<Coverage> parametric_coverage(const Stopping& stopping, std::size_t trials,
                                          std::uint64_t seed);

/// How often ratio_of_medians holds 1 for two sides that are one: so many processes a side, each
/// off by `spread` (a standard deviation, relative), which is estimated from this many references.
Coverage same_side_coverage(std::size_t processes, std::size_t references, double spread,
                            std::size_t trials, std::uint64_t seed);

}  // namespace dlbench::stats
