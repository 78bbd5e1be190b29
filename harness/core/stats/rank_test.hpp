#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace dlbench::stats {

/// The smallest number of processes on each side for a 95 % interval from ranks.
inline constexpr std::size_t kFewestRanked = 4;

/// A rank test of two sides of these sizes whose statistic is the sum of the first side's scores
/// (percentile-modified rank test; Gastwirth 1965). The scores of all times in order fall by one
/// from the lowest time to that at two thirds of them, or at the size of the larger side if that is
/// more, and are 0 above it. Other programs and an unlucky memory layout only make a process
/// slower, so the slowest ones are left out. With nine a side and a slow one in the first, this
/// test's p is a sixth of Mann and Whitney's, which counts all ranks.
///
/// The null distribution is exact and does not depend on the distribution of the times. Above
/// 120 processes it is that of the normal approximation.
class RankTest {
 public:
  RankTest(std::size_t first, std::size_t second);

  /// The score of the time with this place in the order of all, from 0.
  std::size_t score(std::size_t place) const { return place < scored_ ? scored_ - place : 0; }

  /// Two-sided p of a sum of scores.
  double p(std::size_t sum) const;

  double mean() const { return mean_; }

  /// The probability of a sum of at most, or at least, `sum`.
  double at_most(std::size_t sum) const;
  double at_least(std::size_t sum) const;

  /// The p of two sides of which one is completely below the other; the larger one of both orders.
  double least_p() const;

 private:
  std::size_t first_, second_;
  std::size_t scored_;  ///< number of scores above 0
  double mean_ = 0;
  double sigma_ = 0;                        ///< of the normal approximation; 0 if it is not used
  std::vector<double> at_most_, at_least_;  ///< by sum
};

/// The shift of the second side's times against the first's, from one rank test of all shifts.
class RankedShift {
 public:
  /// `test` is of the sizes of these sides and must outlive this object.
  RankedShift(const RankTest& test, std::vector<double> first, std::vector<double> second);

  /// The shift after which the sum of scores is closest to its mean.
  double center() const;

  /// The shifts that the test does not reject at 1 - `confidence`; none if they have no bound.
  std::optional<std::pair<double, double>> interval(double confidence) const;

  /// The p of this shift. Equal times count toward no change.
  double p(double shift) const;

 private:
  enum class Equal { first_below, second_below };

  /// The sum of the first side's scores after the second side's times are lowered by `shift`.
  std::size_t sum(double shift, Equal equal) const;

  const RankTest& test_;
  std::vector<double> first_, second_;  ///< in order
  std::vector<double> differences_;     ///< of all pairs, second minus first, in order
};

}  // namespace dlbench::stats
