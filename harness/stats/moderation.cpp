#include "stats/moderation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "stats/gamma.hpp"

namespace dlbench::stats {
namespace {

/// Cells of similar length: so many on each side in the order of time, within this factor.
constexpr std::size_t kNeighbors = 16;
constexpr double kSimilar = 8;
constexpr std::size_t kFewestSimilar = 4;
/// Processes that lie closer than 0.01 % differ by the clock alone; a variance of 0 has no
/// logarithm.
constexpr double kLeastVariance = 1e-8;

/// Sums over a run of cells in the order of time.
struct Sums {
  double count = 0, log = 0, square = 0, expected = 0;

  Sums& operator+=(const Sums& more) {
    count += more.count;
    log += more.log;
    square += more.square;
    expected += more.expected;
    return *this;
  }
  friend Sums operator-(Sums all, const Sums& part) {
    return {all.count - part.count, all.log - part.log, all.square - part.square,
            all.expected - part.expected};
  }
};

/// What one cell adds: the logarithm of its variance, freed of the bias of its few degrees of
/// freedom, and the variance that this logarithm has by chance alone.
Sums sums_of(const Scatter& cell) {
  const double half = cell.degrees_of_freedom / 2;
  if (!(half > 0)) return {};
  const double log =
      std::log(std::max(cell.variance, kLeastVariance)) - digamma(half) + std::log(half);
  return {1, log, log * log, trigamma(half)};
}

std::optional<Noise> prior_of(const Sums& sums) {
  if (sums.count < static_cast<double>(kFewestSimilar)) return std::nullopt;
  const double mean = sums.log / sums.count;
  const double variance = (sums.square - sums.count * mean * mean) / (sums.count - 1);
  const double excess = variance - sums.expected / sums.count;
  if (!(excess > 0)) return Noise{std::exp(mean / 2), kMostPriorDegreesOfFreedom};
  const double half = trigamma_inverse(excess);
  const double log = mean + digamma(half) - std::log(half);
  // Quarters: cells then share the quantiles of Student's t, which take long to find.
  const double quarters = std::floor(8 * half) / 4;
  return Noise{std::exp(log / 2), std::min(quarters, kMostPriorDegreesOfFreedom)};
}

}  // namespace

Scatter scatter_of(const MeasuredSide& first, const MeasuredSide& second) {
  Scatter made;
  for (const MeasuredSide* side : {&first, &second}) {
    const std::vector<double> logs = logs_of(*side);
    made.variance += squares(logs);
    made.length += mean(logs) / 2;
    made.degrees_of_freedom += static_cast<double>(logs.size()) - 1;
  }
  if (made.degrees_of_freedom > 0) made.variance /= made.degrees_of_freedom;
  return made;
}

std::vector<std::optional<Noise>> noise_of_similar_cells(std::span<const Scatter> cells) {
  std::vector<std::size_t> order(cells.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return cells[a].length < cells[b].length; });
  std::vector<Sums> until(cells.size() + 1);  // of the first so many in the order of time
  for (std::size_t i = 0; i < order.size(); ++i) {
    until[i + 1] = until[i];
    until[i + 1] += sums_of(cells[order[i]]);
  }
  std::vector<std::optional<Noise>> made(cells.size());
  std::size_t first = 0, last = 0;  // the cells within the factor
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double length = cells[order[i]].length;
    while (cells[order[first]].length < length - std::log(kSimilar)) ++first;
    while (last < order.size() && cells[order[last]].length <= length + std::log(kSimilar)) ++last;
    const std::size_t from = std::max(first, i - std::min(i, kNeighbors));
    const std::size_t to = std::min(last, i + kNeighbors + 1);
    made[order[i]] = prior_of(until[to] - until[from] - sums_of(cells[order[i]]));
  }
  return made;
}

}  // namespace dlbench::stats
