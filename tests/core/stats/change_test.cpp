#include "stats/change.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "random.hpp"
#include "stats/stages.hpp"
#include "stats/stats.hpp"
#include "stats/student.hpp"

namespace dlbench::stats {
namespace {

constexpr double kAlarms = 0.01;

/// The two-sided p of a sum of scores, from all choices of the first side's places.
double counted_p(const RankTest& test, std::size_t first, std::size_t all, std::size_t sum) {
  double count = 0, at_most = 0, at_least = 0;
  for (unsigned chosen = 0; chosen < 1U << all; ++chosen) {
    if (static_cast<std::size_t>(std::popcount(chosen)) != first) continue;
    std::size_t scores = 0;
    for (std::size_t place = 0; place < all; ++place) {
      if ((chosen >> place & 1U) != 0) scores += test.score(place);
    }
    ++count;
    at_most += scores <= sum ? 1 : 0;
    at_least += scores >= sum ? 1 : 0;
  }
  return std::min(1.0, 2 * std::min(at_most, at_least) / count);
}

TEST(RankTest, CountsAllOrders) {
  for (const auto& [first, second] : std::vector<std::pair<std::size_t, std::size_t>>{
           {4, 4}, {6, 6}, {4, 9}, {9, 4}, {1, 1}, {2, 7}}) {
    const RankTest test(first, second);
    for (std::size_t sum = 0; sum <= 60; ++sum) {
      EXPECT_NEAR(test.p(sum), counted_p(test, first, first + second, sum), 1e-12) << first << sum;
    }
  }
  EXPECT_NEAR(RankTest(4, 4).least_p(), 2.0 / 70, 1e-15);
  EXPECT_NEAR(RankTest(9, 9).least_p(), 2.0 / 48620, 1e-15);
  const double orders = std::exp(std::lgamma(119) - 2 * std::lgamma(60));
  EXPECT_NEAR(RankTest(59, 59).least_p() * orders / 2, 1, 1e-9);
  EXPECT_DOUBLE_EQ(RankTest(1, 1).least_p(), 1);
  // Above 120 the normal approximation continues what is counted.
  const RankTest counted(60, 60), approximated(61, 60);
  for (const double deviations : {0.5, 1.5, 2.5}) {
    const auto sum = [&](const RankTest& test, double count) {
      return static_cast<std::size_t>(test.mean() - deviations * 4.6 * count);
    };
    EXPECT_NEAR(counted.p(sum(counted, 60)), approximated.p(sum(approximated, 61)), 0.02);
  }
}

TEST(RankTest, EqualTimesCountTowardNoChange) {
  const RankTest test(4, 4);
  const std::vector<double> same{1, 1, 1, 1};
  EXPECT_DOUBLE_EQ(RankedShift(test, same, same).p(0), 1);
  EXPECT_DOUBLE_EQ(RankedShift(test, same, {2, 2, 2, 2}).p(0), test.least_p());
  EXPECT_DOUBLE_EQ(RankedShift(test, same, {1, 2, 2, 2}).p(0),
                   RankedShift(test, same, {0.9, 2, 2, 2}).p(0));
}

TEST(RankTest, IntervalsHaveTheShiftsThatAreNotRejected) {
  Random random(5);
  for (const auto& [first, second] :
       std::vector<std::pair<std::size_t, std::size_t>>{{4, 4}, {5, 9}, {9, 5}, {12, 12}}) {
    std::vector<double> a, b;
    for (std::size_t i = 0; i < first; ++i) a.push_back(random.normal());
    for (std::size_t i = 0; i < second; ++i) b.push_back(1 + random.normal());
    const RankTest test(first, second);
    const RankedShift shifts(test, a, b);
    for (const double confidence : {0.5, 0.95, 0.99}) {
      const auto interval = shifts.interval(confidence);
      if (!interval) {
        EXPECT_GT(test.least_p(), 1 - confidence);
        continue;
      }
      EXPECT_GT(shifts.p(interval->first + 1e-9), 1 - confidence);
      EXPECT_GT(shifts.p(interval->second - 1e-9), 1 - confidence);
      EXPECT_LE(shifts.p(interval->first - 1e-9), 1 - confidence);
      EXPECT_LE(shifts.p(interval->second + 1e-9), 1 - confidence);
      EXPECT_LE(interval->first, shifts.center());
      EXPECT_GE(interval->second, shifts.center());
    }
  }
}

TEST(Changes, ASlowProcessDoesNotHideAChange) {
  MeasuredSide base, head;
  for (int i = 0; i < 9; ++i) {
    base.medians.push_back(i == 4 ? 112 : 100 + 0.1 * i);
    head.medians.push_back(105 + 0.1 * i);
  }
  const Change change = Changes(kAlarms / 10).of(base, head);
  EXPECT_LE(change.p, kAlarms / 10);
  EXPECT_GT(change.lo, 1.03);
  EXPECT_LT(change.hi, 1.07);
}

TEST(Student, HasTheTablesQuantiles) {
  EXPECT_NEAR(student_quantile(0.05, 10), 2.228139, 1e-6);
  EXPECT_NEAR(student_quantile(0.01, 3), 5.840909, 1e-6);
  EXPECT_NEAR(student_quantile(0.05, 1e6), 1.959966, 1e-5);
  EXPECT_NEAR(student_quantile(1e-7, 7), 22.0397, 1e-3);
  for (const double degrees_of_freedom : {0.37, 1.0, 2.5, 40.0}) {
    for (const double p : {0.5, 0.05, 1e-4}) {
      EXPECT_NEAR(student_p(student_quantile(p, degrees_of_freedom), degrees_of_freedom) / p, 1,
                  1e-6);
    }
  }
}

TEST(ChangeWords, WhatCannotDetectTheThresholdIsInconclusive) {
  Judged observed{1.01, 1.03, 0.5, 0.04};
  EXPECT_EQ(word_of(observed, 0.05, kAlarms), ChangeWord::same);
  observed.minimum_detectable_change = 0.06;
  EXPECT_EQ(word_of(observed, 0.05, kAlarms), ChangeWord::inconclusive);
  observed = {1.03, 1.07, 0.5, 0.04};
  EXPECT_EQ(word_of(observed, 0.05, kAlarms), ChangeWord::ambig);
  observed = {3, 3.2, 0.001, 0.06};
  EXPECT_EQ(word_of(observed, 0.05, kAlarms), ChangeWord::slow) << "a change that was found is one";
}

TEST(Holm, StepsDownAndKeepsTheOrder) {
  const std::vector<double> p{0.04, 0.001, 0.03, 0.9};
  const std::vector<double> adjusted = holm(p);
  EXPECT_DOUBLE_EQ(adjusted[1], 0.004);
  EXPECT_DOUBLE_EQ(adjusted[2], 0.09);
  EXPECT_DOUBLE_EQ(adjusted[0], 0.09);  // never below the one before it
  EXPECT_DOUBLE_EQ(adjusted[3], 0.9);
  EXPECT_TRUE(holm({}).empty());
}

TEST(Changes, RefusesWhatIsNoSide) {
  Changes changes(kAlarms);
  EXPECT_THROW(changes.of({}, {{1.0}, {}}), std::invalid_argument);
  EXPECT_THROW(changes.of({{1.0}, {}}, {{0.0}, {}}), std::invalid_argument);
  EXPECT_THROW(Changes(0), std::invalid_argument);
}

TEST(Changes, OneProcessASideAndNoReferenceIsNoEvidence) {
  const Change change = Changes(kAlarms).of({{100}, {0.01}}, {{200}, {0.01}});
  EXPECT_NEAR(change.ratio, 2, 1e-12);
  EXPECT_FALSE(change.is_honest);
  EXPECT_EQ(change.p, 1);
  EXPECT_TRUE(std::isinf(change.minimum_detectable_change));
}

TEST(Changes, RoundsAreNotCountedTwice) {
  // The scatter of the processes holds that of their rounds.
  MeasuredSide base{{100, 101, 99}, {0.005, 0.005, 0.005}};
  Changes changes(kAlarms);
  const double apart = changes.of(base, base).minimum_detectable_change;
  for (double& deviation : base.deviations) deviation = 0;
  EXPECT_EQ(changes.of(base, base).minimum_detectable_change, apart);
  for (double& deviation : base.deviations) deviation = 0.1;
  EXPECT_GT(changes.of(base, base).minimum_detectable_change, 5 * apart);
}

TEST(Changes, APriorOfOthersIsWeighedByItsDegreesOfFreedom) {
  const MeasuredSide base{{100, 102, 98}, {}};
  Changes changes(kAlarms);
  const Change alone = changes.of(base, base);
  EXPECT_NEAR(alone.spread, 0.02, 0.001);
  const Change moderated = changes.of(base, base, Noise{0.01, 4});
  EXPECT_NEAR(moderated.spread, std::sqrt((4 * 0.0004 + 4 * 0.0001) / 8), 0.001);
  EXPECT_LT(moderated.minimum_detectable_change, alone.minimum_detectable_change);
}

TEST(Changes, WhatTheMachineDriftedByIsNoEvidence) {
  const MeasuredSide base{{100, 101, 99, 100.5, 99.5, 100.2}, {}};
  MeasuredSide head = base;
  for (double& ns : head.medians) ns *= 1.08;
  EXPECT_LT(Changes(kAlarms).of(base, head).p, kAlarms);
  const Change change = Changes(kAlarms, {std::log(1.09), std::log(1.09)}).of(base, head);
  EXPECT_GT(change.p, 0.5);
  EXPECT_LT(change.lo, 1);
  EXPECT_LT(Changes(kAlarms, {std::log(1.02), std::log(1.02)}).of(base, head).p, kAlarms);
  // A drift that is possible widens the interval, and leaves the p as it is.
  const Change wider = Changes(kAlarms, {std::log(1.09), 0}).of(base, head);
  EXPECT_EQ(wider.p, Changes(kAlarms).of(base, head).p);
  EXPECT_EQ(wider.lo, change.lo);
  EXPECT_THROW(Changes(kAlarms, {0, 0.1}), std::invalid_argument);
}

using Scatter = std::function<double(Random&)>;

double normal(Random& random) {
  return 0.02 * random.normal();
}
/// Two layouts of memory, a tenth apart: which one a process gets is chance.
double bimodal(Random& random) {
  return (random.uniform() < 0.5 ? 0.1 : 0.0) + 0.002 * random.normal();
}
/// One process in ten was disturbed, by as much as it takes.
double disturbed(Random& random) {
  const double usual = 0.01 * random.normal();
  return random.uniform() < 0.1 ? usual + 0.3 * random.exponential() : usual;
}

MeasuredSide drawn(const Scatter& scatter, std::size_t processes, double factor, Random& random) {
  MeasuredSide side;
  for (std::size_t i = 0; i < processes; ++i) {
    side.medians.push_back(100 * factor * std::exp(scatter(random)));
    side.deviations.push_back(0.002);
  }
  return side;
}

struct Found {
  double any = 0;      ///< share of comparisons with a cell below 1 %, adjusted
  double planted = 0;  ///< of the planted cells
};

/// Comparisons of so many cells, of which the first is slower by `change`.
Found compare_often(const Scatter& scatter, std::size_t processes, std::size_t cells,
                    std::size_t times, double change) {
  Random random(7);
  Changes changes(kAlarms / static_cast<double>(cells));
  std::size_t any = 0, planted = 0;
  for (std::size_t i = 0; i < times; ++i) {
    std::vector<double> p;
    for (std::size_t cell = 0; cell < cells; ++cell) {
      const MeasuredSide base = drawn(scatter, processes, 1, random);
      const MeasuredSide head = drawn(scatter, processes, cell == 0 ? 1 + change : 1, random);
      p.push_back(changes.of(base, head).p);
    }
    const std::vector<double> adjusted = holm(p);
    any += *std::min_element(adjusted.begin(), adjusted.end()) <= kAlarms ? 1 : 0;
    planted += adjusted.front() <= kAlarms ? 1 : 0;
  }
  const auto count = static_cast<double>(times);
  return {static_cast<double>(any) / count, static_cast<double>(planted) / count};
}

struct Case {
  const char* name;
  Scatter scatter;
};

/// 1 in 100 whole comparisons, and what 1,000 of them scatter by (0.3 %).
TEST(Changes, AtMostOneOfAHundredComparisonsAlarmsForNothing) {
  for (const Case& each :
       {Case{"normal", &normal}, Case{"bimodal", &bimodal}, Case{"disturbed", &disturbed}}) {
    for (const std::size_t cells : {std::size_t{1}, std::size_t{12}, std::size_t{60}}) {
      const std::size_t processes = processes_for(kAlarms / static_cast<double>(cells));
      const Found found = compare_often(each.scatter, processes, cells, 1000, 0);
      EXPECT_LE(found.any, 0.017) << each.name << " " << cells;
    }
  }
}

/// Too few processes for the order of pairs: Student's t, with what the reference exchanges tell.
TEST(Changes, FewProcessesAlarmAsSeldom) {
  Random random(3);
  std::size_t any = 0;
  constexpr std::size_t kTimes = 1000, kCells = 10, kReferenceWorkers = 12;
  for (std::size_t i = 0; i < kTimes; ++i) {
    std::vector<double> references(kReferenceWorkers);
    for (double& ns : references) ns = 60 * std::exp(normal(random));
    Changes changes(kAlarms / kCells);
    const auto noise = reference_noise(relative_spread(references), kReferenceWorkers);
    std::vector<double> p;
    for (std::size_t cell = 0; cell < kCells; ++cell) {
      const std::size_t processes = 1 + cell % 3;
      const MeasuredSide base = drawn(&normal, processes, 1, random);
      p.push_back(changes.of(base, drawn(&normal, processes, 1, random), noise).p);
    }
    const std::vector<double> adjusted = holm(p);
    any += *std::min_element(adjusted.begin(), adjusted.end()) <= kAlarms ? 1 : 0;
  }
  EXPECT_LE(any, kTimes * 17 / 1000);
}

TEST(Changes, APlantedChangeIsFound) {
  for (const std::size_t cells : {std::size_t{1}, std::size_t{12}, std::size_t{60}}) {
    const double level = kAlarms / static_cast<double>(cells);
    Quantiles quantiles;
    const std::size_t processes = processes_to_detect(0.05, 0.02, 1e6, level, quantiles);
    const Found found = compare_often(&normal, processes, cells, 400, 0.05);
    EXPECT_GE(found.planted, 0.94) << cells << " cells, " << processes << " processes";
    EXPECT_LE(processes, 22U);
  }
}

TEST(Changes, TheIntervalHoldsTheTruth) {
  for (const std::size_t processes : {std::size_t{2}, std::size_t{4}, std::size_t{8}}) {
    Random random(11);
    Changes changes(kAlarms);
    std::size_t held = 0;
    constexpr std::size_t kTimes = 2000;
    for (std::size_t i = 0; i < kTimes; ++i) {
      const Change change =
          changes.of(drawn(&normal, processes, 1, random), drawn(&normal, processes, 1.05, random));
      held += change.lo <= 1.05 && 1.05 <= change.hi ? 1 : 0;
    }
    EXPECT_GE(held, kTimes * 94 / 100) << processes;
  }
}

TEST(Changes, WhatCouldBeSeenIsSeen) {
  const MeasuredSide base{{100, 101, 99, 102, 98, 100.5, 99.5, 100.2}, {}};
  Changes changes(kAlarms);
  const Change same = changes.of(base, base);
  EXPECT_GT(same.minimum_detectable_change, 0);
  MeasuredSide head = base;
  for (double& ns : head.medians) ns *= 1 + same.minimum_detectable_change * 1.01;
  EXPECT_LE(changes.of(base, head).p, kAlarms);
}

TEST(Changes, ALevelThatTheRanksJustReachIsNoRankBeyondThem) {
  // 2 / C(25, 12) twice over: 1 - level then rounds away the outermost rank.
  Changes changes(2.0 / 5200300);
  MeasuredSide base, head;
  for (int i = 0; i < 12; ++i) base.medians.push_back(100 + 0.1 * i);
  for (int i = 0; i < 13; ++i) head.medians.push_back(100 + 0.1 * i);
  const Change change = changes.of(base, head);
  EXPECT_TRUE(change.by_ranks);
  EXPECT_GT(change.minimum_detectable_change, 0);
  EXPECT_LT(change.minimum_detectable_change, 0.05);
}

TEST(ProcessesFor, IsTheLeastNumberThatReachesTheLevel) {
  EXPECT_EQ(processes_for(0.5), 4U);
  for (const double level : {0.01, 1e-4, 1e-7}) {
    const std::size_t n = processes_for(level);
    EXPECT_LE(RankTest(n, n).least_p(), level * (1 + 1e-12));
    EXPECT_GT(RankTest(n - 1, n - 1).least_p(), level);
  }
}

}  // namespace
}  // namespace dlbench::stats
