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

/// What processes differ by without a change, estimated from other cells or from the reference
/// exchange: a standard deviation, relative, and its degrees of freedom.
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

/// Logarithms of the medians. std::invalid_argument for a side without processes, and for times not
/// above 0.
std::vector<double> logs_of(const MeasuredSide& side);

double mean(std::span<const double> values);

/// Sum of the squares of the deviations from the mean.
double squares(std::span<const double> values);

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
/// The unit is the process: rounds lie within processes, and processes within sides. From four a
/// side on the interval is Hodges and Lehmann's, from the order of all pairs; p comes from the same
/// order wherever so many processes can reach `level` at all, since that is exact whatever the
/// distribution. Where they cannot, and for fewer, it is Student's t over the moderated variance:
/// that within the sides and that of the prior, weighted by their degrees of freedom, and never
/// below what the rounds leave open.
class Changes {
 public:
  /// `drift` (a logarithm, at least 0) is what the whole machine moved by from one side to the
  /// other: intervals reach that much further, and only what exceeds it is evidence.
  explicit Changes(double level, double drift = 0);

  /// `prior`: noise_of_similar_cells() or reference_noise(). std::invalid_argument for a side
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

/// Holm's step-down: each p so that at most `a` of 100 families have any p below `a` % where
/// nothing changed, however the cells hang together. In the order given.
std::vector<double> holm(std::span<const double> p);

/// How many processes a side must be for the order of pairs to reach `level`.
std::size_t processes_for(double level);

/// What is said of a change.
enum class ChangeWord { fast, slow, same, ambig, inconclusive };
inline constexpr std::array<std::string_view, 5> kChangeWords{"FAST", "SLOW", "SAME", "AMBIG",
                                                              "INCONCLUSIVE"};

/// same where they differ by `threshold` at most and a change of the threshold would have been
/// detected; else slow or fast where p, adjusted for all cells, is at most `false_alarms`; else
/// inconclusive where a change of the threshold would not have been detected; ambig what is left.
/// By the 99 % interval: the 95 % interval of one change in forty that is just the threshold lies
/// within it, which is too often to call that same.
struct Judged {
  double ratio = 1, most = 1, p = 1;
  double minimum_detectable_change = 0;
};
ChangeWord word_of(const Judged& seen, double threshold, double false_alarms);

}  // namespace dlbench::stats
