#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "stats/stats.hpp"
#include "stats/student.hpp"

namespace dlbench::stats {

/// The medians of one exchange in several processes, ns. Series of equal size may come from the
/// same processes, in the same order.
using Series = std::vector<double>;

/// The spread between processes for exchanges of about one length. Variances are of a process's
/// median on the logarithm of time; they include the variance of the rounds.
struct ProcessVariance {
  double variance = 0;            ///< typical variance of a series
  double degrees_of_freedom = 0;  ///< of its distribution over exchanges; infinite if all are equal
  double information = 0;         ///< degrees of freedom of all series together
};

/// What other cells show of the spread between processes, without a change: a relative standard
/// deviation and its degrees of freedom.
struct Noise {
  double deviation = 0;
  double degrees_of_freedom = 0;
};

/// Estimates that from series of at least two processes each; none without such a series.
/// The prior of Smyth (2004), by the moments of the logarithms of the variances. Series from the
/// same processes are correlated, so `information` is below their number.
std::optional<ProcessVariance> estimate_variance(std::span<const Series> series);

/// 95 % interval for the median of processes. From five processes on, order statistics, whatever
/// the distribution (the range of five: 93.75 %). From two to four, Student's t around the median
/// of the medians, with the processes' own variance moderated by `others`. A single process has no
/// interval: it is empty and not honest.
Interval process_interval(const Series& medians, const std::optional<ProcessVariance>& others,
                          Quantiles& quantiles);

/// Half-width of the 95 % prediction interval for the next process, relative to the median.
double prediction_half_width(const ProcessVariance& variance);

/// The same from one series of at least two (std::invalid_argument).
double between_half_width(const Series& medians);

/// Two other cells with several processes a side, beside the cell itself.
inline constexpr std::size_t kFewestSimilar = 6;
/// Degrees of freedom of processes: some are slower by a third.
inline constexpr double kHeavyTail = 5;

/// The spread between processes by the length of an exchange. A length uses the series within a
/// factor of four of the nearest power of four.
class ProcessSpread {
 public:
  /// A series of fewer than two processes, or with times that are not above 0, adds nothing.
  void add(Series medians);

  /// Estimates the variances. Called once, after the last series.
  void estimate();

  std::optional<ProcessVariance> at(double ns) const;
  std::optional<double> half_width(double ns) const;

  /// The prior for the spread of a cell of this length: none where fewer than kFewestSimilar series
  /// are as long. Cells of a run share their processes, which a comparison of all of them allows
  /// for only in part: the prior has at most kHeavyTail degrees of freedom, by
  /// tests/stats/moderation_test.cpp, which measures the false alarms.
  std::optional<Noise> noise(double ns) const;

  /// process_interval() of a series, moderated by the other series of its length.
  Interval interval(const Series& medians) const;

  struct Row {
    double length_ns = 0;  ///< exchanges from half to twice this length
    double half_width = 0;
    std::size_t series = 0;
  };
  /// The lengths that have a series of their own.
  std::vector<Row> table() const;

 private:
  struct Known {
    ProcessVariance variance;
    double half_width = 0;
    std::size_t series = 0;
    bool has_own = false;  ///< has a series this nearest length?
  };
  const Known* known_at(double ns) const;

  std::vector<Series> series_;
  std::map<int, Known> by_power_;
  mutable Quantiles quantiles_;  ///< cached, because the cells of a run need the same few
};

}  // namespace dlbench::stats
