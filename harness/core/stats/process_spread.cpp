#include "stats/process_spread.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <utility>

#include "stats/gamma.hpp"
#include "stats/student.hpp"

namespace dlbench::stats {
namespace {

constexpr double kLevel = 0.05;
// The range of five processes contains the median with a probability of 93.75 %.
constexpr std::size_t kFewestOrdered = 5;
// A variance below this counts as equal medians: the clock has steps.
constexpr double kEqualVariance = 1e-10;
constexpr double kMostLog = 20;  // a factor of 5e8; a wider interval has no meaning
constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// The variance of the median of `count` values divided by that of their mean, for a normal
/// distribution.
double efficiency_loss(std::size_t count) {
  constexpr std::array<double, 8> kFew{1, 1, 1.346, 1.193, 1.434, 1.288, 1.473, 1.345};
  return count <= kFew.size() ? kFew.at(count - 1) : std::numbers::pi / 2;
}

double median_variance(std::size_t count) {
  return efficiency_loss(count) / static_cast<double>(count);
}

/// The bias of the logarithm of a chi-square variable divided by its degrees of freedom.
double log_bias(double degrees_of_freedom) {
  return digamma(degrees_of_freedom / 2) - std::log(degrees_of_freedom / 2);
}

/// Deviations of the logarithms from their mean.
std::vector<double> deviations(const Series& medians) {
  std::vector<double> logs;
  double sum = 0;
  for (const double ns : medians) sum += logs.emplace_back(std::log(ns));
  for (double& each : logs) each -= sum / static_cast<double>(medians.size());
  return logs;
}

double variance_of(std::span<const double> deviations) {
  double sum = 0;
  for (const double each : deviations) sum += each * each;
  return std::max(sum / static_cast<double>(deviations.size() - 1), kEqualVariance);
}

/// Series of equal length, which may come from the same processes.
class Group {
 public:
  explicit Group(std::size_t processes) : products_(processes * processes) {}

  void add(const Series& medians) {
    const std::vector<double> off = deviations(medians);
    const double variance = variance_of(off);
    const double log = std::log(variance) - log_bias(degrees_of_freedom(off.size()));
    ++count_;
    const double before = log - mean_;
    mean_ += before / static_cast<double>(count_);
    squares_ += before * (log - mean_);
    const double length = variance * degrees_of_freedom(off.size());
    for (std::size_t i = 0; i < off.size(); ++i) {
      for (std::size_t j = 0; j < off.size(); ++j) {
        products_[i * off.size() + j] += off[i] * off[j] / length;
      }
    }
  }

  double mean_log() const { return mean_; }
  double pairs() const { return static_cast<double>(count_ - 1); }

  /// The mean squared correlation of two series, minus its expectation for independent series. With
  /// two processes every correlation is 1 or -1.
  double squared_correlation() const {
    const double freedom = own();
    if (count_ < 2 || freedom < 2) return 1;
    double sum = 0;
    for (const double product : products_) sum += product * product;
    const auto count = static_cast<double>(count_);
    const double mean = (sum - count) / (count * (count - 1));
    return std::clamp((mean - 1 / freedom) / (1 - 1 / freedom), 0., 1.);
  }

  double information() const {
    const auto count = static_cast<double>(count_);
    return own() * count / (1 + (count - 1) * squared_correlation());
  }

  /// The variance of the logarithms beyond the sampling variance of so few processes, times
  /// pairs().
  double excess() const {
    return squares_ - pairs() * trigamma(own() / 2) * (1 - squared_correlation());
  }

 private:
  static double degrees_of_freedom(std::size_t processes) {
    return static_cast<double>(processes - 1);
  }
  double own() const { return std::sqrt(static_cast<double>(products_.size())) - 1; }

  std::size_t count_ = 0;
  double mean_ = 0, squares_ = 0;
  std::vector<double> products_;  // outer products of unit vectors, summed over the series
};

bool is_usable(const Series& medians) {
  return medians.size() >= 2 &&
         std::all_of(medians.begin(), medians.end(), [](double ns) { return ns > 0; });
}

/// The power of four next to a length.
int power_of(double ns) {
  return static_cast<int>(std::lround(std::log2(ns) / 2));
}

}  // namespace

std::optional<ProcessVariance> estimate_variance(std::span<const Series> series) {
  std::map<std::size_t, Group> groups;
  for (const Series& medians : series) {
    if (is_usable(medians))
      groups.try_emplace(medians.size(), medians.size()).first->second.add(medians);
  }
  if (groups.empty()) return std::nullopt;
  ProcessVariance found;
  double log = 0, excess = 0, pairs = 0;
  for (const auto& [size, group] : groups) {
    found.information += group.information();
    log += group.information() * group.mean_log();
    excess += group.excess();
    pairs += group.pairs();
  }
  constexpr double kLeastExcess = 1e-3;  // 2000 degrees of freedom
  const double each = pairs > 0 ? excess / pairs : 0;
  found.degrees_of_freedom = each > kLeastExcess ? 2 * trigamma_inverse(each) : kInfinite;
  const double bias = std::isinf(found.degrees_of_freedom) ? 0 : log_bias(found.degrees_of_freedom);
  // Corrects the bias of an estimate from few degrees of freedom.
  found.variance = std::exp(log / found.information + bias + log_bias(found.information));
  return found;
}

Interval process_interval(const Series& medians, const std::optional<ProcessVariance>& others,
                          Quantiles& quantiles) {
  if (medians.size() < 2 || medians.size() >= kFewestOrdered) {
    const Interval ordered = median_interval(medians);
    return {ordered.lo, ordered.hi, medians.size() >= kFewestOrdered};
  }
  const double center = median(medians);
  const auto own = static_cast<double>(medians.size() - 1);
  double variance = variance_of(deviations(medians));
  double known = own;
  if (others) {
    const double prior = others->degrees_of_freedom;
    variance = std::isinf(prior) ? others->variance
                                 : (prior * others->variance + own * variance) / (prior + own);
    known = std::max(own, std::min(prior + own, others->information));
  }
  const double half = std::min(kMostLog, quantiles.of(kLevel, known) *
                                             std::sqrt(variance * median_variance(medians.size())));
  return {center * std::exp(-half), center * std::exp(half), true};
}

double prediction_half_width(const ProcessVariance& variance) {
  const double known = std::min({variance.degrees_of_freedom, variance.information, kHeavyTail});
  // The median itself is also uncertain.
  const double center = 1 / (1 + variance.information);
  const double half = student_quantile(kLevel, known) * std::sqrt(variance.variance * (1 + center));
  return std::expm1(std::min(kMostLog, half));
}

double between_half_width(const Series& medians) {
  const auto known = estimate_variance(std::span(&medians, 1));
  if (!known)
    throw std::invalid_argument("the spread needs at least two processes with times above 0");
  return prediction_half_width(*known);
}

void ProcessSpread::add(Series medians) {
  if (is_usable(medians)) series_.push_back(std::move(medians));
}

void ProcessSpread::estimate() {
  std::map<int, std::vector<Series>> near;
  for (const Series& medians : series_) {
    const double length = std::log2(median(medians)) / 2;
    for (int power = static_cast<int>(std::ceil(length - 1));
         power <= static_cast<int>(std::floor(length + 1)); ++power) {
      near[power].push_back(medians);
    }
  }
  for (const auto& [power, series] : near) {
    const ProcessVariance variance = *estimate_variance(series);
    const bool has_own = std::any_of(series.begin(), series.end(), [at = power](const Series& one) {
      return power_of(median(one)) == at;
    });
    by_power_[power] = {variance, prediction_half_width(variance), series.size(), has_own};
  }
  series_.clear();
}

const ProcessSpread::Known* ProcessSpread::known_at(double ns) const {
  const auto found = ns > 0 ? by_power_.find(power_of(ns)) : by_power_.end();
  return found == by_power_.end() ? nullptr : &found->second;
}

std::optional<ProcessVariance> ProcessSpread::at(double ns) const {
  const Known* known = known_at(ns);
  return known == nullptr ? std::nullopt : std::optional(known->variance);
}

std::optional<double> ProcessSpread::half_width(double ns) const {
  const Known* known = known_at(ns);
  return known == nullptr ? std::nullopt : std::optional(known->half_width);
}

std::optional<Noise> ProcessSpread::noise(double ns) const {
  const Known* known = known_at(ns);
  if (known == nullptr || known->series < kFewestSimilar) return std::nullopt;
  return Noise{std::sqrt(known->variance.variance),
               std::min(known->variance.degrees_of_freedom, kHeavyTail)};
}

Interval ProcessSpread::interval(const Series& medians) const {
  return process_interval(medians, at(median(medians)), quantiles_);
}

std::vector<ProcessSpread::Row> ProcessSpread::table() const {
  std::vector<Row> rows;
  for (const auto& [power, known] : by_power_) {
    if (!known.has_own) continue;
    rows.push_back({std::exp2(2 * power), known.half_width, known.series});
  }
  const auto has_few = [](const Row& row) { return row.series < kFewestSimilar; };
  if (!std::all_of(rows.begin(), rows.end(), has_few)) std::erase_if(rows, has_few);
  return rows;
}

}  // namespace dlbench::stats
