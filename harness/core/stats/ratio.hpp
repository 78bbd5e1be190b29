#pragma once

#include <optional>
#include <span>
#include <vector>

namespace dlbench::stats {

/// The ratio of the second side's time to the first's, with a 95 % interval.
struct Ratio {
  double value = 1;
  double lo = 1;
  double hi = 1;
  bool honest = false;  ///< false: too few processes, and the spread between processes is unknown
};

/// One side: the rounds of each of its processes, in ns.
using Processes = std::span<const std::vector<double>>;

/// The sampling unit is the process. With at least four processes on each side, value and interval
/// are those of a rank test (RankedShift), which is exact. With fewer, the interval's half-width is
/// the root of the sum of squares of each side's interval and of `between`, the spread between
/// processes (process_spread.hpp); without `between` it covers only the rounds and is not honest.
/// Throws std::invalid_argument for a side without processes, a process without rounds, or times
/// not above 0.
Ratio ratio_of_medians(Processes first, Processes second, std::optional<double> between);

}  // namespace dlbench::stats
