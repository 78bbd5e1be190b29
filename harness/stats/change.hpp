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
#include "stats/rank_sum.hpp"
#include "stats/student.hpp"

namespace dlbench::stats {

/// The noise from the reference exchange: `spread` is half its interquartile range over its median
/// in `workers` workers. None for fewer than two.
std::optional<Noise> reference_noise(double spread, std::size_t workers);

/// One side of a cell.
struct MeasuredSide {
  std::vector<double> medians;     ///< a process each, ns
  std::vector<double> deviations;  ///< relative uncertainty of each median from its rounds
};

/// Ratios are reported within this and its inverse; detectable changes up to it.
inline constexpr double kMostFactor = 1e9;

/// The observed ratio of the second side's time to the first's.
struct Change {
  double ratio = 1;
  double lo = 1, hi = 1;                 ///< 95 %
  double most = 1;                       ///< largest factor between the sides, either way, at 99 %
  double p = 1;                          ///< p of no change, for this cell alone
  double spread = 0;                     ///< between processes: a standard deviation, relative
  double minimum_detectable_change = 0;  ///< the minimum detectable change at `level`, relative
  bool by_ranks = false;   ///< otherwise Student's t with the spread between processes
  bool is_honest = false;  ///< false: the spread between processes is unknown
};

/// Compares the sides of one cell after another. `level` is the bound for the p of a single cell,
/// which depends on the number of cells.
///
/// The sampling unit is the process, not the round. From four processes a side on, the interval is
/// that of Hodges and Lehmann, from the ranks of all pairs. p comes from the same ranks if so many
/// processes can reach `level`: that is exact for every distribution. Otherwise, and for fewer
/// processes, both are Student's t with a moderated variance: that within the sides and that of the
/// prior, weighted by their degrees of freedom, and never below the uncertainty of the rounds.
class Changes {
 public:
  /// `drift` (a logarithm, at least 0) is the change of the whole machine from one side to the
  /// other: it widens intervals, and only a larger difference is evidence.
  explicit Changes(double level, double drift = 0);

  /// `prior`: ProcessSpread::noise() or reference_noise(). std::invalid_argument for a side
  /// without processes, and for times not above 0.
  Change of(const MeasuredSide& first, const MeasuredSide& second,
            const std::optional<Noise>& prior = {});

 private:
  const RankSum& ranks(std::size_t first, std::size_t second);

  double level_;
  double drift_;
  std::map<std::pair<std::size_t, std::size_t>, RankSum> ranks_;
  Quantiles quantiles_;
};

/// Adjusts each p by Holm's step-down method: if nothing changed, at most `a` of 100 families have
/// any p below `a` %, whatever the dependence between cells. Keeps the order.
std::vector<double> holm(std::span<const double> p);

/// The number of processes a side from which a rank test can reach `level`.
std::size_t processes_for(double level);

/// The verdict on a change.
enum class ChangeWord { fast, slow, same, ambig, inconclusive };
inline constexpr std::array<std::string_view, 5> kChangeWords{"FAST", "SLOW", "SAME", "AMBIG",
                                                              "INCONCLUSIVE"};

/// `same` if they differ by at most `threshold` and a change of the threshold would have been
/// detected; else `slow` or `fast` if p, adjusted for all cells, is at most `false_alarms`; else
/// `inconclusive` if a change of the threshold would not have been detected; else `ambig`. `same`
/// uses the 99 % interval: the 95 % interval would call one in forty changes of exactly the
/// threshold the same.
struct Judged {
  double ratio = 1, most = 1, p = 1;
  double minimum_detectable_change = 0;
};
ChangeWord word_of(const Judged& seen, double threshold, double false_alarms);

}  // namespace dlbench::stats
