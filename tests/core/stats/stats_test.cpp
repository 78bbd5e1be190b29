#include "stats/stats.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

namespace {

using namespace dlbench::stats;
using Values = std::vector<double>;

TEST(Median, OfOddAndEvenCounts) {
  EXPECT_EQ(median(Values{7}), 7);
  EXPECT_EQ(median(Values{3, 1, 2}), 2);
  EXPECT_EQ(median(Values{4, 1, 3, 2}), 2.5);
}

TEST(Median, LeavesItsInputAlone) {
  const Values values{3, 1, 2};
  EXPECT_EQ(median(values), 2);
  EXPECT_EQ(values, (Values{3, 1, 2}));
}

TEST(Median, DoesNotOverflow) {
  constexpr double kMost = std::numeric_limits<double>::max();
  EXPECT_EQ(median(Values{kMost, kMost}), kMost);
}

TEST(Mad, IsTheMedianDistanceFromTheMedian) {
  EXPECT_EQ(mad(Values{5}), 0);
  EXPECT_EQ(mad(Values{1, 1, 2, 2, 4, 6, 9}), 1);
  EXPECT_EQ(mad(Values{1, 2, 3, 4, 1000}), 1);
}

TEST(Everything, AsksForAValueAndForNoNan) {
  const Values none;
  const Values nan{1, std::nan("")};
  for (const Values& bad : {none, nan}) {
    EXPECT_THROW(median(bad), std::invalid_argument);
    EXPECT_THROW(mad(bad), std::invalid_argument);
    EXPECT_THROW(median_interval(bad), std::invalid_argument);
    EXPECT_THROW(relative_spread(bad), std::invalid_argument);
  }
}

Values one_to(std::size_t n) {
  Values values;
  for (std::size_t i = n; i > 0; --i) values.push_back(static_cast<double>(i));
  return values;
}

struct Ranks {
  std::size_t n;
  double lo;
  double hi;
};

// Ranks of the 95 % interval from printed tables of the sign test: the interpolated one lies within
// them, and not a whole rank further in.
TEST(MedianInterval, LiesWithinTheTabulatedRanks) {
  constexpr std::array<Ranks, 9> kTable{{{6, 1, 6},
                                         {8, 1, 8},
                                         {9, 2, 8},
                                         {12, 3, 10},
                                         {15, 4, 12},
                                         {20, 6, 15},
                                         {25, 8, 18},
                                         {60, 22, 39},
                                         {100, 40, 61}}};
  for (const Ranks& row : kTable) {
    const Interval interval = median_interval(one_to(row.n));
    EXPECT_GE(interval.lo, row.lo) << row.n;
    EXPECT_LT(interval.lo, row.lo + 1) << row.n;
    EXPECT_DOUBLE_EQ(interval.hi, static_cast<double>(row.n) + 1 - interval.lo) << row.n;
    EXPECT_TRUE(interval.honest) << row.n;
  }
}

TEST(MedianInterval, IsTheRangeAndNotHonestBelowSixValues) {
  for (std::size_t n = 1; n < 6; ++n) {
    const Interval interval = median_interval(one_to(n));
    EXPECT_EQ(interval.lo, 1);
    EXPECT_EQ(interval.hi, static_cast<double>(n));
    EXPECT_FALSE(interval.honest) << n;
  }
}

TEST(MedianInterval, KnowsHowManyValuesAConfidenceNeeds) {
  EXPECT_TRUE(median_interval(one_to(2), 0.5).honest);
  EXPECT_TRUE(median_interval(one_to(5), 0.9).honest);
  EXPECT_FALSE(median_interval(one_to(7), 0.99).honest);
  EXPECT_TRUE(median_interval(one_to(8), 0.99).honest);
  EXPECT_THROW(median_interval(one_to(8), 0), std::invalid_argument);
  EXPECT_THROW(median_interval(one_to(8), 1), std::invalid_argument);
  EXPECT_THROW(median_interval(one_to(8), std::nan("")), std::invalid_argument);
}

TEST(MedianInterval, FollowsTheNormalApproximationForMany) {
  constexpr std::size_t kMany = 100'000;
  const Interval interval = median_interval(one_to(kMany));
  const double expected = 1.959964 * std::sqrt(static_cast<double>(kMany)) / 2;
  EXPECT_NEAR((interval.hi - interval.lo) / 2, expected, 2);
  EXPECT_NEAR((interval.hi + interval.lo) / 2, (kMany + 1) / 2.0, 1e-9);
}

// Exponential, so that symmetry does not help; its median is log 2.
double coverage(std::size_t n, int samples) {
  std::mt19937_64 random(20240229 + n);
  int held = 0;
  for (int sample = 0; sample < samples; ++sample) {
    Values values;
    for (std::size_t i = 0; i < n; ++i) {
      const double uniform = (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53;
      values.push_back(-std::log(uniform));
    }
    const Interval interval = median_interval(values);
    held += interval.lo <= std::log(2.0) && std::log(2.0) <= interval.hi ? 1 : 0;
  }
  return static_cast<double>(held) / samples;
}

// Whole ranks would cover 0.988 with eleven values; 4,000 samples scatter by about 0.0035.
TEST(MedianInterval, CoversTheMedianOfASkewedDistributionAsAsked) {
  for (const std::size_t n : {6, 7, 11, 12, 25, 60}) EXPECT_NEAR(coverage(n, 4000), 0.95, 0.013);
}

// At exactly a rank's own confidence nothing is left to interpolate: 1 - 2 (1/2)^n.
TEST(MedianInterval, IsTheRankWhereTheRankIsWhatWasAsked) {
  const Interval interval = median_interval(one_to(6), 1 - 2.0 / 64);
  EXPECT_NEAR(interval.lo, 1, 1e-9);
  EXPECT_NEAR(interval.hi, 6, 1e-9);
  const Interval two = median_interval(one_to(2), 0.4);
  EXPECT_TRUE(two.honest);
  EXPECT_LE(two.lo, two.hi);
}

TEST(RelativeSpread, IsHalfTheQuartilesDistanceOverTheMedian) {
  EXPECT_EQ(relative_spread(Values{42}), 0);
  EXPECT_EQ(relative_spread(Values{5, 5, 5}), 0);
  EXPECT_DOUBLE_EQ(relative_spread(Values{90, 110, 100}), 0.05);
  EXPECT_DOUBLE_EQ(relative_spread(Values{1, 2, 3, 4}), 1.5 / 2 / 2.5);
  EXPECT_THROW(relative_spread(Values{-1, 0, 1}), std::invalid_argument);
}

}  // namespace
