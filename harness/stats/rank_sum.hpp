#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace dlbench::stats {

/// The least number of processes a side for which the order of all pairs gives a 95 % interval.
inline constexpr std::size_t kFewestRanked = 4;

/// Mann and Whitney's count of pairs, for two sides of one kind with so many processes each: its
/// exact distribution, which holds whatever the times are distributed like.
class RankSum {
 public:
  RankSum(std::size_t first, std::size_t second);

  /// Two-sided chance of a count as far from the middle as `pairs_below`, or as its mirror image.
  double p(std::size_t pairs_below) const;

  /// The least that p() can be: all of one side below all of the other.
  double least_p() const { return p(0); }

  /// The largest k for which 2 P(count < k) <= `confidence`'s complement: the k-th smallest and the
  /// k-th largest difference bound the shift. 0 where so few processes cannot tell.
  std::size_t rank(double confidence) const;

 private:
  std::size_t pairs_;
  double sigma_ = 0;                ///< of the normal approximation, where it is used
  std::vector<double> cumulative_;  ///< P(count <= u), as far as the middle
};

/// In how many pairs is the second's value below the first's? Ties count for whichever side brings
/// the answer nearer to the middle, where it says least. At most half of all pairs.
std::size_t pairs_out_of_order(std::span<const double> first, std::span<const double> second);

}  // namespace dlbench::stats
