#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "stats/rank_sum.hpp"
#include "stats/student.hpp"

namespace dlbench::stats {

/// What processes differ by for no reason, told from others than those at hand: a standard
/// deviation, relative, and the degrees of freedom that it is known with.
struct Noise {
  double deviation = 0;
  double degrees_of_freedom = 0;
};

/// Of the reference exchange: `spread` is half its interquartile range over its median, in so many
/// workers. None for fewer than two.
std::optional<Noise> reference_noise(double spread, std::size_t workers);

/// One side of a cell.
struct MeasuredSide {
  std::vector<double> medians;     ///< a process each, ns
  std::vector<double> deviations;  ///< what each median is known to from its rounds, relative
};

/// Ratios are told within this and its inverse, and what could be seen up to it.
inline constexpr double kMostFactor = 1e9;

/// What was seen of the second side's time over the first's.
struct Change {
  double ratio = 1;
  double lo = 1, hi = 1;  ///< 95 %
  double most = 1;        ///< the factor, either way, that they differ by at most: 99 %
  double p = 1;           ///< of no change, this cell alone
  double spread = 0;      ///< between processes: a standard deviation, relative
  double minimum_detectable_change =
      0;                   ///< the least change that would have been told at `level`, relative
  bool by_ranks = false;   ///< else Student's t over the spread between processes
  bool is_honest = false;  ///< false: nothing is known of what two processes differ by
};

/// Compares sides, one cell after another, of which there are so many that `level` is what a single
/// p must be below.
///
/// The unit is the process. From four a side on the interval is Hodges and Lehmann's, from the
/// order of all pairs; p comes from the same order wherever so many processes can reach `level` at
/// all, since that is exact whatever the distribution. Where they cannot, and for fewer, it is
/// Student's t: the variance within the sides and the noise of others, weighted by their degrees of
/// freedom, and what the rounds leave open.
class Changes {
 public:
  /// `drift` (a logarithm, at least 0) is what the whole machine moved by from one side to the
  /// other: intervals reach that much further, and only what exceeds it is evidence.
  Changes(double level, std::optional<Noise> noise, double drift = 0);

  /// std::invalid_argument for a side without processes, and for times not above 0.
  Change of(const MeasuredSide& first, const MeasuredSide& second);

 private:
  const RankSum& ranks(std::size_t first, std::size_t second);

  double level_;
  std::optional<Noise> noise_;
  double drift_;
  std::map<std::pair<std::size_t, std::size_t>, RankSum> ranks_;
  Quantiles quantiles_;
};

/// Holm's step-down: each p so that at most `a` of 100 families have any p below `a` % where
/// nothing changed, however the cells hang together. In the order given.
std::vector<double> holm(std::span<const double> p);

/// How many processes a side must be for the order of pairs to reach `level`.
std::size_t processes_for(double level);

/// What is said of a change.
enum class ChangeWord { fast, slow, same, ambig };
inline constexpr std::array<std::string_view, 4> kChangeWords{"FAST", "SLOW", "SAME", "AMBIG"};

/// same where they differ by `threshold` at most; else slow or fast where p, adjusted for all
/// cells, is at most `false_alarms`; ambig what is left. What a change of just the threshold is
/// called: the 95 % interval of one in forty lies within it, which is too often to call that same.
struct Judged {
  double ratio = 1, most = 1, p = 1;
};
ChangeWord word_of(const Judged& seen, double threshold, double false_alarms);

}  // namespace dlbench::stats
