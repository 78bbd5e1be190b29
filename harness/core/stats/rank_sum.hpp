#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace dlbench::stats {

/// The smallest number of processes on each side for a 95 % interval from ranks.
inline constexpr std::size_t kFewestRanked = 4;

/// The exact null distribution of Mann and Whitney's U for two sides of these sizes. It does not
/// depend on the distribution of the times.
class RankSum {
 public:
  RankSum(std::size_t first, std::size_t second);

  /// Two-sided p of a count at least as far from the middle as `pairs_below`.
  double p(std::size_t pairs_below) const;

  /// The smallest possible p(): all of one side below all of the other.
  double least_p() const { return p(0); }

  /// The largest k with 2 P(count < k) <= 1 - `confidence`: the k-th smallest and the k-th largest
  /// difference bound the shift. 0 for too few processes.
  std::size_t rank(double confidence) const;

 private:
  std::size_t pairs_;
  double sigma_ = 0;  ///< standard deviation of the normal approximation, if that is used
  std::vector<double> cumulative_;  ///< P(count <= u), up to the middle
};

/// Number of pairs in which the second value is below the first, or its mirror image if that is
/// smaller. Ties count toward the middle, which is conservative.
std::size_t pairs_out_of_order(std::span<const double> first, std::span<const double> second);

}  // namespace dlbench::stats
