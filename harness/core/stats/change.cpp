#include "stats/change.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <stdexcept>
#include <tuple>

#include "stats/rank_test.hpp"
#include "stats/stats.hpp"
#include "stats/student.hpp"

namespace dlbench::stats {
namespace {

constexpr double kConfidence = 0.95;
constexpr double kSurely = 0.99;
/// The degrees of freedom of Student's t for the quartiles of the reference exchange, for any
/// number of workers, because the distribution over processes has heavy tails. With a normal
/// distribution one cell in thirty was SLOW or FAST although nothing had changed.
constexpr double kHeavyTailDegreesOfFreedom = 3;
constexpr double kHalfQuartiles = 0.76489;
/// The efficiency of quartiles as an estimate of spread, relative to the standard deviation of the
/// same values.
constexpr double kEfficiency = 0.37;

/// The variance of a process's median due to its rounds; the mean over the side.
double rounds_variance(const MeasuredSide& side) {
  double sum = 0;
  for (const double deviation : side.deviations) sum += deviation * deviation;
  return sum / static_cast<double>(side.medians.size());
}

/// The variance of a side's center divided by the variance of one process, for a normal
/// distribution. The median of three has a larger variance than their mean.
double variance_of_middle(std::size_t processes, bool is_median) {
  constexpr double kMedianOfThree = 1.346;
  const auto count = static_cast<double>(processes);
  if (!is_median || processes < 3) return 1 / count;
  return (processes == 3 ? kMedianOfThree : std::numbers::pi / 2) / count;
}

/// exp(shift), limited to kMostFactor, so that an unbounded interval is still a finite number.
double factor(double shift) {
  return std::clamp(std::exp(shift), 1 / kMostFactor, kMostFactor);
}

/// `shift` reduced towards 0 by `drift`, but not beyond 0.
double without_drift(double shift, double drift) {
  return std::copysign(std::max(0.0, std::abs(shift) - drift), shift);
}

std::vector<double> logs_of(const MeasuredSide& side) {
  if (side.medians.empty())
    throw std::invalid_argument("a change needs at least one process on each side");
  std::vector<double> logs;
  logs.reserve(side.medians.size());
  for (const double median : side.medians) {
    if (!(median > 0)) throw std::invalid_argument("a change needs times above zero");
    logs.push_back(std::log(median));
  }
  return logs;
}

/// Sum of the squares of the deviations from the mean.
double squares(const std::vector<double>& values) {
  const double center =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += (value - center) * (value - center);
  return sum;
}

}  // namespace

std::optional<Noise> reference_noise(double spread, std::size_t workers) {
  if (workers < 2) return std::nullopt;
  const double known = kEfficiency * static_cast<double>(workers - 1);
  return Noise{spread / kHalfQuartiles, std::min(known, kHeavyTailDegreesOfFreedom)};
}

Changes::Changes(double level, Drift drift) : level_(level), drift_(drift) {
  if (!(level > 0 && level < 1)) throw std::invalid_argument("the level must be between 0 and 1");
  if (!(drift.certain >= 0 && drift.possible >= drift.certain))
    throw std::invalid_argument("the certain drift must be from 0 to the possible one");
}

const RankTest& Changes::ranks(std::size_t first, std::size_t second) {
  return ranks_.try_emplace({first, second}, first, second).first->second;
}

Change Changes::of(const MeasuredSide& first, const MeasuredSide& second,
                   const std::optional<Noise>& prior) {
  const std::vector<double> a = logs_of(first);
  const std::vector<double> b = logs_of(second);
  const std::size_t fewest = std::min(a.size(), b.size());
  const bool is_median = fewest < kFewestRanked;
  const RankTest& test = ranks(a.size(), b.size());
  const RankedShift shifts(test, a, b);
  const double shift = is_median ? median(b) - median(a) : shifts.center();
  Change change;
  change.ratio = factor(shift);

  // The variance between processes: the variance within the sides, moderated by the prior.
  const auto own = static_cast<double>(a.size() + b.size() - 2);
  const double degrees_of_freedom = own + (prior ? prior->degrees_of_freedom : 0);
  const auto deviation_over = [&](double between) {
    return std::sqrt(
        std::max(between, rounds_variance(first)) * variance_of_middle(a.size(), is_median) +
        std::max(between, rounds_variance(second)) * variance_of_middle(b.size(), is_median));
  };
  double half = std::numeric_limits<double>::infinity();  // 95 %
  double far = half;                                      // 99 %, from no change
  if (degrees_of_freedom > 0) {
    double sum = squares(a) + squares(b);
    if (prior) sum += prior->degrees_of_freedom * prior->deviation * prior->deviation;
    change.spread = std::sqrt(sum / degrees_of_freedom);
    const double deviation = deviation_over(sum / degrees_of_freedom);
    const double beyond = std::abs(without_drift(shift, drift_.certain));
    change.p = beyond > 0 ? student_p(deviation > 0 ? beyond / deviation
                                                    : std::numeric_limits<double>::infinity(),
                                      degrees_of_freedom)
                          : 1;
    half = quantiles_.of(1 - kConfidence, degrees_of_freedom) * deviation;
    far = std::abs(shift) + quantiles_.of(1 - kSurely, degrees_of_freedom) * deviation;
    change.minimum_detectable_change =
        std::expm1(quantiles_.of(level_, degrees_of_freedom) * deviation + drift_.certain);
    change.is_honest = true;
  } else {
    // Without a spread between processes the interval is too narrow to be evidence.
    half = 2 * deviation_over(0);
    change.minimum_detectable_change = std::numeric_limits<double>::infinity();
  }
  double lo = shift - half, hi = shift + half;
  if (!is_median) {
    std::tie(lo, hi) = shifts.interval(kConfidence).value();
    if (const auto sure = shifts.interval(kSurely)) far = std::max(-sure->first, sure->second);
    // The least p may equal the level, and 1 - level is not exact.
    if (const auto sure = shifts.interval(1 - level_); sure && test.least_p() <= level_) {
      change.by_ranks = true;
      change.p = shifts.p(std::clamp(shift, -drift_.certain, drift_.certain));
      const double wide = std::max(shift - sure->first, sure->second - shift);
      change.minimum_detectable_change = std::expm1(wide + drift_.certain);
    }
  }
  if (change.is_honest)
    change.minimum_detectable_change = std::min(change.minimum_detectable_change, kMostFactor);
  change.lo = factor(lo - drift_.possible);
  change.hi = factor(hi + drift_.possible);
  change.most = factor(far + drift_.possible);
  return change;
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double times = static_cast<double>(p.size() - i);
    largest = std::max(largest, std::min(1.0, times * p[order[i]]));
    adjusted[order[i]] = largest;
  }
  return adjusted;
}

std::size_t processes_for(double level) {
  double least = 1;  // 2 / binomial(2n, n)
  std::size_t n = 1;
  for (; n < 60; ++n) {
    if (least <= level) break;
    const auto count = static_cast<double>(n + 1);
    least *= count / (2 * (2 * count - 1));
  }
  return std::max(n, kFewestRanked);
}

ChangeWord word_of(const Judged& observed, double threshold, double false_alarms) {
  const bool is_able = observed.minimum_detectable_change <= threshold;
  if (is_able && observed.most <= 1 + threshold) return ChangeWord::same;
  if (observed.p > false_alarms) return is_able ? ChangeWord::ambig : ChangeWord::inconclusive;
  return observed.ratio > 1 ? ChangeWord::slow : ChangeWord::fast;
}

}  // namespace dlbench::stats
