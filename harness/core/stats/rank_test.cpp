#include "stats/rank_test.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace dlbench::stats {
namespace {

constexpr std::size_t kMostCounted = 120;
/// Rounding must not make a sum of probabilities miss a bound that it meets exactly.
constexpr double kRounding = 1 + 1e-9;

double normal_below(double z) {
  return std::erfc(-z / std::sqrt(2.0)) / 2;
}

double sum_to(std::size_t n) {
  return static_cast<double>(n) * static_cast<double>(n + 1) / 2;
}

/// P(sum = s) for the sum of the scores of `first` of `all` times that are chosen at random.
std::vector<double> probabilities(std::size_t first, std::size_t all, std::size_t scored) {
  const std::size_t least = first + scored > all ? first + scored - all : 0;
  const std::size_t most = std::min(first, scored);
  // The largest `most` scores.
  const auto largest = static_cast<std::size_t>(sum_to(scored) - sum_to(scored - most));
  // ways[j][s]: the number of choices of j of the scores so far with the sum s.
  std::vector<std::vector<double>> ways(most + 1, std::vector<double>(largest + 1, 0.0));
  ways[0][0] = 1;
  for (std::size_t score = 1; score <= scored; ++score) {
    for (std::size_t j = std::min(score, most); j > 0; --j) {
      for (std::size_t s = score; s <= largest; ++s) ways[j][s] += ways[j - 1][s - score];
    }
  }
  const auto choices = [](std::size_t n, std::size_t k) {
    double count = 1;
    for (std::size_t i = 1; i <= k; ++i) {
      count *= static_cast<double>(n - k + i) / static_cast<double>(i);
    }
    return count;
  };
  const double total = choices(all, first);
  std::vector<double> found(largest + 1, 0.0);
  for (std::size_t j = least; j <= most; ++j) {
    const double share = choices(all - scored, first - j) / total;
    for (std::size_t s = 0; s <= largest; ++s) found[s] += share * ways[j][s];
  }
  return found;
}

}  // namespace

RankTest::RankTest(std::size_t first, std::size_t second)
    : first_(first),
      second_(second),
      // At least a whole side, so that the order "one side below the other" has a sum of its own.
      scored_(std::max({(first + second) * 2 / 3, first, second})) {
  const std::size_t all = first + second;
  const auto count = static_cast<double>(all);
  const double share = static_cast<double>(first) / count;
  mean_ = share * sum_to(scored_);
  if (all <= kMostCounted) {
    at_most_ = at_least_ = probabilities(first, all, scored_);
    std::partial_sum(at_most_.begin(), at_most_.end(), at_most_.begin());
    std::partial_sum(at_least_.rbegin(), at_least_.rend(), at_least_.rbegin());
    return;
  }
  const auto scored = static_cast<double>(scored_);
  const double squares = scored * (scored + 1) * (2 * scored + 1) / 6;
  const double spread = squares - sum_to(scored_) * sum_to(scored_) / count;
  sigma_ = std::sqrt(share * static_cast<double>(second) / (count - 1) * spread);
}

double RankTest::at_most(std::size_t sum) const {
  if (sigma_ > 0) return normal_below((static_cast<double>(sum) + 0.5 - mean_) / sigma_);
  return sum < at_most_.size() ? at_most_[sum] : 1;
}

double RankTest::at_least(std::size_t sum) const {
  if (sigma_ > 0) return normal_below((mean_ - static_cast<double>(sum) + 0.5) / sigma_);
  return sum < at_least_.size() ? at_least_[sum] : 0;
}

double RankTest::p(std::size_t sum) const {
  return std::min(1.0, 2 * std::min(at_most(sum), at_least(sum)));
}

double RankTest::least_p() const {
  std::size_t lowest = 0, highest = 0;
  for (std::size_t i = 0; i < first_; ++i) {
    lowest += score(i);
    highest += score(second_ + i);
  }
  return std::max(p(lowest), p(highest));
}

RankedShift::RankedShift(const RankTest& test, std::vector<double> first,
                         std::vector<double> second)
    : test_(test), first_(std::move(first)), second_(std::move(second)) {
  std::sort(first_.begin(), first_.end());
  std::sort(second_.begin(), second_.end());
  differences_.reserve(first_.size() * second_.size());
  for (const double a : first_) {
    for (const double b : second_) differences_.push_back(b - a);
  }
  std::sort(differences_.begin(), differences_.end());
}

// Compares differences, as differences_ has them, because a sum of a time and a shift would be
// rounded in another way.
std::size_t RankedShift::sum(double shift, Equal equal) const {
  std::size_t total = 0, below = 0;
  for (std::size_t i = 0; i < first_.size(); ++i) {
    const auto is_below = [&](double b) {
      const double difference = b - first_[i];
      return equal == Equal::second_below ? difference <= shift : difference < shift;
    };
    while (below < second_.size() && is_below(second_[below])) ++below;
    total += test_.score(i + below);
  }
  return total;
}

double RankedShift::center() const {
  const auto from =
      std::partition_point(differences_.begin(), differences_.end(), [&](double shift) {
        return static_cast<double>(sum(shift, Equal::second_below)) > test_.mean();
      });
  const auto to = std::partition_point(differences_.begin(), differences_.end(), [&](double shift) {
    return static_cast<double>(sum(shift, Equal::first_below)) >= test_.mean();
  });
  return (*from + *(to - 1)) / 2;
}

std::optional<std::pair<double, double>> RankedShift::interval(double confidence) const {
  const double tail = (1 - confidence) * kRounding;
  const auto is_too_low = [&](double shift, Equal equal) {
    return 2 * test_.at_least(sum(shift, equal)) <= tail;
  };
  const auto is_too_high = [&](double shift, Equal equal) {
    return 2 * test_.at_most(sum(shift, equal)) <= tail;
  };
  if (!is_too_low(differences_.front(), Equal::first_below) ||
      !is_too_high(differences_.back(), Equal::second_below)) {
    return std::nullopt;
  }
  const auto lo = std::partition_point(differences_.begin(), differences_.end(), [&](double shift) {
    return is_too_low(shift, Equal::second_below);
  });
  const auto above =
      std::partition_point(differences_.begin(), differences_.end(),
                           [&](double shift) { return !is_too_high(shift, Equal::first_below); });
  return std::pair(*lo, *(above - 1));
}

double RankedShift::p(double shift) const {
  const std::size_t most = sum(shift, Equal::first_below);
  const std::size_t least = sum(shift, Equal::second_below);
  const bool is_around_mean =
      static_cast<double>(least) <= test_.mean() && test_.mean() <= static_cast<double>(most);
  return is_around_mean ? 1 : std::max(test_.p(most), test_.p(least));
}

}  // namespace dlbench::stats
