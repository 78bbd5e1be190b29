#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "stats/stats.hpp"
#include "stats/student.hpp"

namespace dlbench::stats {

/// The medians of one exchange in several processes, in ns. Series of equal length may come from
/// the same processes, in the same order.
using Series = std::vector<double>;

/// The spread between processes for exchanges of about the same duration. Variances are those of
/// the logarithm of a process's median and include the variance of the rounds.
struct ProcessVariance {
  double variance = 0;  ///< typical variance of a series
  /// Of the distribution of variances over exchanges; infinite if all are equal.
  double degrees_of_freedom = 0;
  double information = 0;  ///< degrees of freedom of all series combined
};

/// The spread between processes without a change, estimated from other cells: a relative standard
/// deviation and its degrees of freedom.
struct Noise {
  double deviation = 0;
  double degrees_of_freedom = 0;
};

/// Estimates the variance from series of at least two processes each; none without such a series.
/// The estimate is the prior of Smyth (2004), from the moments of the logarithms of the variances.
/// Series from the same processes are correlated, so `information` is below the number of series.
std::optional<ProcessVariance> estimate_variance(std::span<const Series> series);

/// The 95 % interval for the median of processes. With five or more processes it comes from order
/// statistics, valid for every distribution (the range of five covers 93.75 %). With two to four it
/// is Student's t around the median of the medians, with their variance moderated by `others`. A
/// single process has no interval: the result is empty and not honest.
Interval process_interval(const Series& medians, const std::optional<ProcessVariance>& others,
                          Quantiles& quantiles);

/// Half-width of the 95 % prediction interval for the next process, relative to the median.
double prediction_half_width(const ProcessVariance& variance);

/// The same from one series. Throws std::invalid_argument for fewer than two processes.
double between_half_width(const Series& medians);

/// The smallest number of similar series for a prior, and for a row of ProcessSpread::table(): two
/// cells besides the cell itself, with several processes on each side.
inline constexpr std::size_t kFewestSimilar = 6;
/// The most degrees of freedom of the prior, because the distribution over processes has heavy
/// tails.
inline constexpr double kHeavyTail = 5;

/// The spread between processes as a function of the duration of an exchange. An estimate uses the
/// series within a factor of four of the nearest power of four.
class ProcessSpread {
 public:
  /// Ignores a series of fewer than two processes, or with times not above 0.
  void add(Series medians);

  /// Estimates the variances. Call it once, after the last series.
  void estimate();

  std::optional<ProcessVariance> at(double ns) const;
  std::optional<double> half_width(double ns) const;

  /// The prior for the spread of a cell of this duration; none for fewer than kFewestSimilar series
  /// of similar duration. The estimate accounts only in part for processes that cells share, so the
  /// prior has at most kHeavyTail degrees of freedom. tests/core/stats/moderation_test.cpp shows
  /// that this limits false alarms.
  std::optional<Noise> noise(double ns) const;

  /// process_interval() of a series, moderated by the series of similar duration.
  Interval interval(const Series& medians) const;

  struct Row {
    double length_ns = 0;  ///< of exchanges from half to twice this duration
    double half_width = 0;
    std::size_t series = 0;
  };
  /// One row for each power of four that has a series nearest to it. Rows of fewer than
  /// kFewestSimilar series are left out, because so few determine the width poorly, unless all are
  /// such rows.
  std::vector<Row> table() const;

 private:
  struct Known {
    ProcessVariance variance;
    double half_width = 0;
    std::size_t series = 0;
    bool has_own = false;  ///< is this the nearest power of a series?
  };
  const Known* known_at(double ns) const;

  std::vector<Series> series_;
  std::map<int, Known> by_power_;
  mutable Quantiles quantiles_;  ///< the cells of a run need the same few quantiles
};

}  // namespace dlbench::stats
