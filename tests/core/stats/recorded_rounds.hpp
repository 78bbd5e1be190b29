#pragma once

#include <span>
#include <string_view>

namespace dlbench::stats {

/// The rounds that one worker measured of one exchange, in the order of time, ns.
struct RecordedRounds {
  std::string_view exchange;
  std::span<const double> ns;
};

/// Eight exchanges of one worker on an ordinary, shared machine.
std::span<const RecordedRounds> recorded_rounds();

}  // namespace dlbench::stats
