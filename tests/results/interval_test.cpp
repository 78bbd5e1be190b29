#include "results/interval.hpp"

#include <gtest/gtest.h>

#include "core/model/warnings.hpp"
#include "sample.hpp"

namespace dlbench::results {
namespace {

using dlbench::testing::texts_of;
using testing::measured;
using Texts = std::vector<std::string>;

Entry with_workers(const std::vector<double>& medians) {
  Entry entry = measured("a", "b", medians.front());
  entry.workers.clear();
  for (const double median : medians) entry.workers.push_back({median, 1, {median}});
  return entry;
}

stats::ProcessSpread spread_of(const std::vector<std::vector<double>>& series) {
  stats::ProcessSpread spread;
  for (const std::vector<double>& medians : series) spread.add(medians);
  spread.estimate();
  return spread;
}

const stats::ProcessSpread kAtThousand = spread_of({{990, 1000, 1020, 1010}});

TEST(Interval, OneWorkersIsThatOfItsRoundsAndOtherProcessesStandBeside) {
  Entry entry = measured("a", "b", 1000);
  entry.workers[0].samples_ns = {970, 980, 990, 1000, 1000, 1010};
  entry.lo_ns = 970;
  entry.hi_ns = 1010;
  conclude(entry, kAtThousand);
  EXPECT_EQ(entry.interval, "within");
  EXPECT_EQ(entry.lo_ns, 970);
  EXPECT_EQ(entry.hi_ns, 1010);
  EXPECT_EQ(entry.median_ns, 1000);
  ASSERT_TRUE(entry.between_half_width);
  EXPECT_NEAR(*entry.between_half_width, 0.047, 0.001);
  EXPECT_EQ(texts_of(entry.warnings), Texts{});
}

TEST(Interval, AShortExchangeDoesNotScaleALongOne) {
  Entry entry = measured("a", "b", 1e6);
  conclude(entry, kAtThousand);
  EXPECT_FALSE(entry.between_half_width);
  EXPECT_EQ(texts_of(entry.warnings), Texts{"one process"});
}

TEST(Interval, AnUnknownSpreadIsSaidNotInvented) {
  Entry entry = measured("a", "b", 1000);
  warn(entry.warnings, "few-rounds");
  conclude(entry, {});
  EXPECT_EQ(entry.interval, "range");
  EXPECT_EQ(entry.lo_ns, 990);
  EXPECT_EQ(entry.hi_ns, 1020);
  EXPECT_EQ(texts_of(entry.warnings), (Texts{"few rounds", "one process"}));
}

TEST(Interval, SixProcessesSpeakForThemselves) {
  Entry entry = with_workers({103, 100, 101, 106, 104, 105});
  entry.floor_ratio = 10.3;
  entry.gb_per_s = 2.0;
  conclude(entry, {});
  EXPECT_EQ(entry.interval, "processes");
  EXPECT_DOUBLE_EQ(entry.median_ns, 103.5);
  EXPECT_NEAR(entry.lo_ns, 100 + 0.357, 0.001);
  EXPECT_NEAR(entry.hi_ns, 106 - 0.357, 0.001);
  EXPECT_DOUBLE_EQ(entry.floor_ratio, 10.35);
  EXPECT_DOUBLE_EQ(*entry.gb_per_s, 2.0 * 103 / 103.5);
  EXPECT_EQ(texts_of(entry.warnings), Texts{});
}

TEST(Interval, ThreeProcessesHaveAnIntervalAroundTheirMedian) {
  Entry entry = with_workers({100, 104, 97});
  entry.lo_ns = 96;
  entry.hi_ns = 105;
  conclude(entry, spread_of({{100, 104, 97}}));
  EXPECT_EQ(entry.interval, "processes");
  EXPECT_DOUBLE_EQ(entry.median_ns, 100);
  EXPECT_NEAR(entry.lo_ns, 90.4, 0.1);
  EXPECT_NEAR(entry.hi_ns, 110.6, 0.1);
  EXPECT_EQ(texts_of(entry.warnings), Texts{});
}

TEST(Interval, BelowTwiceTheFloorItWarnsOnce) {
  Entry entry = measured("a", "b", 1000);
  entry.floor_ratio = 1.95;
  conclude(entry, kAtThousand);
  conclude(entry, kAtThousand);
  EXPECT_EQ(texts_of(entry.warnings), Texts{"near floor"});
  Entry above = measured("a", "b", 1000);
  above.floor_ratio = 2;
  conclude(above, kAtThousand);
  EXPECT_EQ(texts_of(above.warnings), Texts{});
}

}  // namespace
}  // namespace dlbench::results
