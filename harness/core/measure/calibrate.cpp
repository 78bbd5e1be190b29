#include <algorithm>
#include <cmath>

#include "measure/round.hpp"

namespace dlbench::measure {
namespace {

/// The length of a block from which the cost of an iteration is estimated. It is far shorter than
/// the target, so that calibration is quick, but at least 20 us, because starting a block costs 0.5
/// us.
double estimate_ns(double target_ns) {
  return std::min(target_ns / 2, std::max(target_ns / 20, 20'000.0));
}

std::uint64_t scaled(std::uint64_t iterations, double factor, std::uint64_t most) {
  const double wanted = static_cast<double>(iterations) * factor;
  if (!(wanted < static_cast<double>(most))) return most;
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::round(wanted)));
}

/// Blocks of this length are read once: another reading takes seconds, and a disturbance of a
/// second is rare.
constexpr double kLongNs = 1e9;

/// The time of a block: the shortest of several readings, until two in a row agree, because a
/// disturbance can only lengthen a block. A block shorter than `enough`, or of at least a second,
/// is read once.
std::optional<double> read_block(const Block& block, std::uint64_t iterations, double enough) {
  constexpr int kMostReadings = 6;
  std::optional<double> last = block(iterations);
  std::optional<double> least = last;
  if (last && *last >= std::max(enough, kLongNs)) return last;
  for (int i = 1; i < kMostReadings && last && *least >= enough; ++i) {
    const std::optional<double> next = block(iterations);
    if (!next) return std::nullopt;
    least = std::min(*least, *next);
    if (std::max(*last, *next) <= 2 * std::min(*last, *next)) break;
    last = next;
  }
  return least;
}

}  // namespace

std::uint64_t calibrate(const Block& block, double target_ns, std::uint64_t most) {
  const std::uint64_t limit = std::max<std::uint64_t>(most, 1);
  const double enough_ns = estimate_ns(target_ns);
  std::uint64_t iterations = 1;
  while (true) {
    const std::optional<double> ns = read_block(block, iterations, enough_ns);
    if (!ns) return 0;
    if (*ns >= enough_ns) return scaled(iterations, target_ns / *ns, limit);
    if (iterations == limit) return limit;
    const double growth = std::clamp(2 * enough_ns / std::max(*ns, 1.0), 2.0, 100.0);
    iterations = scaled(iterations, growth, limit);
  }
}

}  // namespace dlbench::measure
