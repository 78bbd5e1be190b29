#include "stats/process_spread.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "random.hpp"
#include "recorded_workers.hpp"
#include "stats/student.hpp"

namespace dlbench::stats {
namespace {

constexpr std::size_t kTrials = 1000;
constexpr std::uint64_t kSeed = 20240229;

Interval interval_of(const Series& medians, const std::optional<ProcessVariance>& others) {
  Quantiles quantiles;
  return process_interval(medians, others, quantiles);
}

Series normal_series(double spread, std::size_t processes, Random& random) {
  Series made(processes);
  for (double& ns : made) ns = 100 * std::exp(spread * random.normal());
  return made;
}

/// So many of a record, none twice.
Series some_of(std::span<const double> record, std::size_t count, Random& random) {
  Series all(record.begin(), record.end());
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(all[i], all[i + random.below(all.size() - i)]);
  }
  all.resize(count);
  return all;
}

double t_half_width(const Series& medians, double loss) {
  std::vector<double> logs;
  for (const double ns : medians) logs.push_back(std::log(ns));
  double sum = 0, squares = 0;
  for (const double each : logs) sum += each;
  const auto count = static_cast<double>(logs.size());
  for (const double each : logs) squares += std::pow(each - sum / count, 2);
  return student_quantile(0.05, count - 1) * std::sqrt(loss * squares / (count - 1) / count);
}

TEST(ProcessSpread, ThreeProcessesAloneHaveStudentsInterval) {
  const Series medians{97, 100, 104};
  const double half = t_half_width(medians, 1.346);
  for (const auto& known : {std::optional<ProcessVariance>(), estimate_variance({{medians}})}) {
    const Interval interval = interval_of(medians, known);
    EXPECT_TRUE(interval.honest);
    EXPECT_NEAR(std::log(interval.hi / 100), half, 1e-9);
    EXPECT_NEAR(std::log(100 / interval.lo), half, 1e-9);
  }
}

TEST(ProcessSpread, OtherSeriesMakeTheIntervalOfAFewNarrower) {
  Random random(1);
  std::vector<Series> series;
  for (int i = 0; i < 300; ++i) series.push_back(normal_series(0.03, 3, random));
  const auto known = estimate_variance(series);
  ASSERT_TRUE(known);
  EXPECT_NEAR(std::sqrt(known->variance), 0.03, 0.003);
  EXPECT_GT(known->degrees_of_freedom, 8);
  EXPECT_GT(known->information, 100);
  const Interval interval = interval_of({99, 100, 103}, known);
  EXPECT_LT(interval.hi / 100 - 1, 0.06);
  EXPECT_GT(interval.hi / 100 - 1, 0.03);
  // Processes that happen to agree are not better known than others.
  EXPECT_GT(interval_of({100, 100, 100}, known).hi, 102);
}

TEST(ProcessSpread, SeriesOfTheSameProcessesCountAsOne) {
  Random random(2);
  const Series common = normal_series(0.03, 3, random);
  std::vector<Series> series;
  for (int i = 0; i < 100; ++i) {
    series.push_back(common);
    for (double& ns : series.back()) ns *= 1 + i;
  }
  const auto known = estimate_variance(series);
  ASSERT_TRUE(known);
  EXPECT_NEAR(known->information, 2, 1e-6);
  const Interval interval = interval_of(common, known);
  EXPECT_NEAR(std::log(interval.hi / interval.lo) / 2, t_half_width(common, 1.346), 1e-6);
}

TEST(ProcessSpread, FromFiveProcessesOnTheOrderIsEnough) {
  const Interval five = interval_of({5, 1, 4, 2, 3}, std::nullopt);
  EXPECT_TRUE(five.honest);
  EXPECT_EQ(five.lo, 1);
  EXPECT_EQ(five.hi, 5);
  const Series eight{1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(interval_of(eight, std::nullopt).lo, median_interval(eight).lo);
  EXPECT_FALSE(interval_of({3}, std::nullopt).honest);
}

TEST(ProcessSpread, ALengthIsKnownFromSeriesOfAboutThatLengthAlone) {
  ProcessSpread spread;
  spread.add({40, 44, 42});
  spread.add({1000});  // one process
  spread.add({-1, 5, 6});
  spread.add({1e6, 1.3e6, 1.1e6});
  spread.estimate();
  EXPECT_TRUE(spread.half_width(40));
  EXPECT_FALSE(spread.half_width(1000));
  EXPECT_FALSE(spread.half_width(0));
  ASSERT_TRUE(spread.half_width(1e6));
  EXPECT_GT(*spread.half_width(1e6), 2 * *spread.half_width(40));
  const Interval interval = spread.interval({40, 44, 42});
  EXPECT_EQ(interval.lo, interval_of({40, 44, 42}, spread.at(42)).lo);
  const auto table = spread.table();
  EXPECT_TRUE(spread.half_width(16));
  ASSERT_EQ(table.size(), 2U) << "of lengths with a series of their own";
  EXPECT_EQ(table.front().length_ns, 64);
  EXPECT_EQ(table.front().series, 1U);
  EXPECT_DOUBLE_EQ(table.front().half_width, *spread.half_width(64));
  EXPECT_EQ(table.back().length_ns, std::exp2(20));
}

TEST(ProcessSpread, TheTableLeavesOutLengthsOfFewSeriesIfOthersHaveMore) {
  ProcessSpread spread;
  spread.add({1e6, 3e6, 1.1e6});
  for (std::size_t i = 1; i < kFewestSimilar; ++i) spread.add({40, 44, 42});
  ProcessSpread more = spread;
  spread.estimate();
  EXPECT_EQ(spread.table().size(), 2U);
  more.add({40, 44, 42});
  more.estimate();
  ASSERT_EQ(more.table().size(), 1U);
  EXPECT_EQ(more.table().front().series, kFewestSimilar);
  EXPECT_TRUE(more.half_width(1e6)) << "a cell of that length still has its own";
}

/// Cells of one length, two sides of three processes each, whose spread is drawn by `spread_of`.
template <typename SpreadOf>
ProcessSpread spread_of_cells(std::size_t cells, SpreadOf spread_of) {
  Random random(5);
  ProcessSpread spread;
  for (std::size_t i = 0; i < cells; ++i) {
    const double deviation = spread_of(random);
    for (int side = 0; side < 2; ++side) spread.add(normal_series(deviation, 3, random));
  }
  spread.estimate();
  return spread;
}

TEST(ProcessSpread, CellsOfALengthAreAPriorForEachOther) {
  const auto noise = spread_of_cells(33, [](Random&) { return 0.02; }).noise(100);
  ASSERT_TRUE(noise);
  EXPECT_NEAR(noise->deviation, 0.02, 0.004);
  EXPECT_GT(noise->degrees_of_freedom, 3);
  EXPECT_LE(noise->degrees_of_freedom, kHeavyTail);
}

TEST(ProcessSpread, CellsThatDifferCountForLess) {
  const auto differ = [](Random& random) { return 0.01 * std::exp(2 * random.normal()); };
  const auto noise = spread_of_cells(40, differ).noise(100);
  ASSERT_TRUE(noise);
  EXPECT_LT(noise->degrees_of_freedom, 1);
}

TEST(ProcessSpread, FewCellsAndSingleProcessesAreNoPrior) {
  const auto equal = [](Random&) { return 0.02; };
  EXPECT_FALSE(spread_of_cells(2, equal).noise(100)) << "one other";
  EXPECT_TRUE(spread_of_cells(3, equal).noise(100));
  EXPECT_FALSE(spread_of_cells(5, equal).noise(1e6)) << "another length";
  ProcessSpread single;
  for (int i = 0; i < 40; ++i) single.add({100});
  single.estimate();
  EXPECT_FALSE(single.noise(100));
}

TEST(ProcessSpread, OneSeriesPredictsTheNextProcess) {
  const Series medians{90, 100, 110, 95, 105};
  const double half = t_half_width(medians, 1) * std::sqrt(5 + 1);
  EXPECT_NEAR(between_half_width(medians), std::expm1(half), 1e-6);
  // Of many it is not a normal distribution's: their tails are heavier.
  const Series many = [] {
    Random random(3);
    return normal_series(0.03, 1000, random);
  }();
  EXPECT_NEAR(between_half_width(many), 2.571 * 0.03, 0.01);
  EXPECT_THROW(between_half_width({1}), std::invalid_argument);
  EXPECT_TRUE(std::isfinite(between_half_width({1, 1e12})));
}

/// Share of the intervals that hold the median of the record, with so many processes a cell, of
/// runs of twelve cells whose processes are drawn from the records.
double recorded_coverage(std::size_t processes) {
  constexpr std::size_t kCells = 12;
  const auto records = recorded_workers();
  std::size_t held = 0;
  for (std::size_t trial = 0; trial < kTrials; ++trial) {
    Random random(mixed(kSeed, trial));
    std::vector<Series> cells;
    for (std::size_t i = 0; i < kCells; ++i) {
      cells.push_back(some_of(records[i % records.size()], processes, random));
    }
    const auto known = estimate_variance(cells);
    for (std::size_t i = 0; i < kCells; ++i) {
      const Interval interval = interval_of(cells[i], known);
      const double truth = median(records[i % records.size()]);
      held += interval.lo <= truth && truth <= interval.hi ? 1 : 0;
    }
  }
  return static_cast<double>(held) / (kTrials * kCells);
}

TEST(ProcessSpread, IntervalsOfRecordedProcessesHoldTheMedian) {
  for (const std::size_t processes : {2U, 3U, 4U, 5U, 6U, 8U, 12U}) {
    const double share = recorded_coverage(processes);
    std::printf("  recorded, %2zu processes   %5.1f %%\n", processes, 100 * share);
    EXPECT_GE(share, 0.93) << processes;
    // Two processes do not show whether the cells rise and fall together.
    EXPECT_LE(share, processes == 2 ? 1 : 0.97) << processes;
  }
}

struct Family {
  const char* name;
  double (*draw)(Random&);
};

double heavy(Random& random) {
  const double squares =
      std::pow(random.normal(), 2) + std::pow(random.normal(), 2) + std::pow(random.normal(), 2);
  return random.normal() / std::sqrt(squares / 3);
}

double with_slow(Random& random) {
  return random.normal() + (random.uniform() < 0.02 ? 10 : 0);
}

/// Thirty cells in the same processes, of which the share `common` of the variance is common to all
/// cells of a process, and three references in eight processes.
double common_coverage(const Family& family, double common, std::size_t processes,
                       bool references) {
  constexpr std::size_t kCells = 30;
  constexpr std::size_t kRuns = 400;
  std::size_t held = 0;
  for (std::size_t trial = 0; trial < kRuns; ++trial) {
    Random random(mixed(kSeed, trial));
    std::vector<Series> series;
    const auto add = [&](std::size_t cells, std::size_t size) {
      std::vector<double> shared(size);
      for (double& off : shared) off = std::sqrt(common) * family.draw(random);
      for (std::size_t i = 0; i < cells; ++i) {
        Series made;
        for (const double off : shared) {
          const double own = std::sqrt(1 - common) * family.draw(random);
          made.push_back(100 * std::exp(0.03 * (off + own)));
        }
        series.push_back(std::move(made));
      }
    };
    add(kCells, processes);
    if (references) add(3, 8);
    const auto known = estimate_variance(series);
    for (std::size_t i = 0; i < kCells; ++i) {
      const Interval interval = interval_of(series[i], known);
      held += interval.lo <= 100 && 100 <= interval.hi ? 1 : 0;
    }
  }
  return static_cast<double>(held) / (kRuns * kCells);
}

TEST(ProcessSpread, IntervalsOfCellsInTheSameProcessesHoldTheMedian) {
  for (const Family& family : {Family{"normal", [](Random& random) { return random.normal(); }},
                               Family{"Student, 3", heavy}, Family{"1 in 50 slow", with_slow}}) {
    for (const double common : {0., 0.5, 0.9}) {
      for (const bool references : {false, true}) {
        const double share = common_coverage(family, common, 3, references);
        std::printf("  %-12s %2.0f %% common, %s references   %5.1f %%\n", family.name,
                    100 * common, references ? "with" : "  no", 100 * share);
        EXPECT_GE(share, 0.91) << family.name << common << references;
        EXPECT_LE(share, 0.985) << family.name << common << references;
      }
    }
  }
}

}  // namespace
}  // namespace dlbench::stats
