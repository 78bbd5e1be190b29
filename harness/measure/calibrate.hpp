#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace dlbench::measure {

/// The wall time in ns of one block of this many iterations; none where the body stopped it.
using Block = std::function<std::optional<double>(std::uint64_t iterations)>;

/// calibrate() of round.hpp for any source of readings.
std::uint64_t calibrate(const Block& block, double target_ns, std::uint64_t most);

}  // namespace dlbench::measure
