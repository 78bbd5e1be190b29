#pragma once

#include <optional>
#include <span>
#include <vector>

namespace dlbench::stats {

/// By how much two sides differ: the second side's time over the first's, with a 95 % interval.
struct Ratio {
  double value = 1;
  double lo = 1;
  double hi = 1;
  bool honest = false;  ///< false: too few processes, and nothing is known of what two differ by
};

/// A side: the rounds of each of its processes, ns.
using Processes = std::span<const std::vector<double>>;

/// The unit is the process, for two of them differ for no reason. From four a side on, the order of
/// all pairs of medians decides (Hodges and Lehmann's interval, exact). With fewer, each side's own
/// intervals and `between`, what one process may lie off (process_spread.hpp), are added as the
/// root of the sum of squares; without it only the rounds speak, and it is not honest.
/// std::invalid_argument for a side without processes, a process without rounds, times not above 0.
Ratio ratio_of_medians(Processes first, Processes second, std::optional<double> between);

}  // namespace dlbench::stats
