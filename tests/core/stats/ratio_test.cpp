#include "stats/ratio.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "stats/rank_test.hpp"

namespace {

using namespace dlbench::stats;
using Side = std::vector<std::vector<double>>;

/// Processes whose rounds lie within 1 % of these medians.
Side side(const std::vector<double>& medians) {
  Side all;
  for (const double ns : medians) {
    all.push_back({ns * 0.99, ns * 0.995, ns, ns, ns * 1.005, ns * 1.01});
  }
  return all;
}

TEST(Ratio, FromFourProcessesASideTheOrderOfPairsDecides) {
  const Ratio four = ratio_of_medians(side({1, 2, 4, 8}), side({16, 32, 64, 128}), std::nullopt);
  EXPECT_TRUE(four.honest);
  EXPECT_NEAR(four.lo, 16.0 / 8, 1e-9);
  EXPECT_NEAR(four.hi, 128.0 / 1, 1e-9);
  EXPECT_NEAR(four.value, 16, 1e-9);

  std::vector<double> first, second;
  for (int i = 0; i < 6; ++i) {
    first.push_back(std::exp2(6 * i));
    second.push_back(std::exp2(i));
  }
  std::vector<double> logs_first, logs_second;
  for (const double ns : first) logs_first.push_back(std::log(ns));
  for (const double ns : second) logs_second.push_back(std::log(ns));
  const RankTest test(6, 6);
  const RankedShift shifts(test, logs_first, logs_second);
  const Ratio six = ratio_of_medians(side(first), side(second), std::nullopt);
  EXPECT_DOUBLE_EQ(std::log(six.lo), shifts.interval(0.95)->first);
  EXPECT_DOUBLE_EQ(std::log(six.hi), shifts.interval(0.95)->second);
  EXPECT_DOUBLE_EQ(std::log(six.value), shifts.center());
}

TEST(Ratio, OneProcessASideIsWidenedByWhatProcessesDifferBy) {
  const Ratio known = ratio_of_medians(side({100}), side({108}), 0.05);
  EXPECT_TRUE(known.honest);
  EXPECT_NEAR(known.value, 1.08, 1e-12);
  EXPECT_LT(known.lo, 1.03);
  EXPECT_GT(known.hi, 1.15);
  const Ratio unknown = ratio_of_medians(side({100}), side({108}), std::nullopt);
  EXPECT_FALSE(unknown.honest);
  EXPECT_GT(unknown.lo, 1.05);
}

TEST(Ratio, ADifferenceThatIsThereIsFound) {
  const Ratio ratio =
      ratio_of_medians(side({100, 103, 98, 101, 99}), side({120, 118, 123, 121, 119}), 0.03);
  EXPECT_GT(ratio.lo, 1.1);
  EXPECT_LT(ratio.hi, 1.3);
}

TEST(Ratio, ManyProcessesAreNotCounted) {
  std::vector<double> medians;
  for (int i = 0; i < 60; ++i) medians.push_back(100 + i % 10);
  const Ratio ratio = ratio_of_medians(side(medians), side(medians), std::nullopt);
  EXPECT_NEAR(ratio.value, 1, 1e-9);
  EXPECT_NEAR(ratio.lo * ratio.hi, 1, 1e-9);
  EXPECT_GT(ratio.lo, 0.97);
}

TEST(Ratio, AsksForProcessesWithRounds) {
  EXPECT_THROW(ratio_of_medians({}, side({1}), 0.1), std::invalid_argument);
  EXPECT_THROW(ratio_of_medians(side({1}), Side{{}}, 0.1), std::invalid_argument);
  EXPECT_THROW(ratio_of_medians(side({1}), side({0}), 0.1), std::invalid_argument);
}

}  // namespace
