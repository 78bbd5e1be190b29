#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "stats/process_spread.hpp"
#include "stats/rank_test.hpp"
#include "stats/student.hpp"

namespace dlbench::stats {

/// The noise estimated from the reference exchange. `spread` is half its interquartile range
/// divided by its median over `workers` workers. None for fewer than two workers.
std::optional<Noise> reference_noise(double spread, std::size_t workers);

/// One side of a cell.
struct MeasuredSide {
  std::vector<double> medians;     ///< a time of each process, in ns
  std::vector<double> deviations;  ///< relative uncertainty of each time due to its rounds
};

/// Ratios are limited to this factor and its inverse, detectable changes to this factor.
inline constexpr double kMostFactor = 1e9;

/// The observed ratio of the second side's time to the first's.
struct Change {
  double ratio = 1;
  double lo = 1, hi = 1;  ///< 95 %
  double most = 1;        ///< largest factor between the sides, in either direction, at 99 %
  double p = 1;           ///< p-value of "no change", for this cell alone
  double spread = 0;      ///< relative standard deviation between processes
  double minimum_detectable_change = 0;  ///< at `level`, relative
  bool by_ranks = false;   ///< p and interval come from ranks; otherwise from Student's t
  bool is_honest = false;  ///< false: the spread between processes is unknown
};

/// The change of the whole machine between the sides, as a logarithm, at least 0.
struct Drift {
  double possible = 0;  ///< widens intervals
  double certain = 0;   ///< only a larger difference is evidence; at most `possible`
};

/// Compares the two sides of each cell. `level` is the significance level of a single cell; it
/// depends on the number of cells.
///
/// The sampling unit is the process, not the round. With at least four processes on each side, the
/// interval has the shifts that a rank test does not reject (RankTest). If so many processes can
/// reach `level`, p comes from the same test and is exact for every distribution. Otherwise p
/// comes from Student's t with a moderated variance: the mean of the variance within the sides and
/// the prior's, weighted by degrees of freedom, and at least the variance of the rounds.
class Changes {
 public:
  explicit Changes(double level, Drift drift = {});

  /// `prior` is ProcessSpread::noise() or reference_noise(). Throws std::invalid_argument for a
  /// side without processes and for times not above 0.
  Change of(const MeasuredSide& first, const MeasuredSide& second,
            const std::optional<Noise>& prior = {});

 private:
  const RankTest& ranks(std::size_t first, std::size_t second);

  double level_;
  Drift drift_;
  std::map<std::pair<std::size_t, std::size_t>, RankTest> ranks_;
  Quantiles quantiles_;
};

/// Adjusts each p by Holm's step-down method, which bounds the family-wise error rate for any
/// dependence between cells. Keeps the order.
std::vector<double> holm(std::span<const double> p);

/// The smallest number of processes on each side with which a rank test can reach `level`.
std::size_t processes_for(double level);

/// The verdict on a change.
enum class ChangeWord { fast, slow, same, ambig, inconclusive };
inline constexpr std::array<std::string_view, 5> kChangeWords{"FAST", "SLOW", "SAME", "AMBIG",
                                                              "INCONCLUSIVE"};

/// The first verdict whose condition holds:
/// - `same`: the sides differ by at most `threshold` (99 % interval), and a change of the threshold
///   would have been detected. With the 95 % interval one in forty changes of exactly the threshold
///   would be `same`.
/// - `slow`, `fast`: p, adjusted for all cells, is at most `false_alarms`.
/// - `inconclusive`: a change of the threshold would not have been detected.
/// - `ambig`: otherwise.
struct Judged {
  double ratio = 1, most = 1, p = 1;
  double minimum_detectable_change = 0;
};
ChangeWord word_of(const Judged& observed, double threshold, double false_alarms);

}  // namespace dlbench::stats
