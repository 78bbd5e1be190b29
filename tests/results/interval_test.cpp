#include "results/interval.hpp"

#include <gtest/gtest.h>

#include "../model/warnings.hpp"
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

TEST(Interval, OneWorkersIsThatOfItsRoundsAndSaysSo) {
  Entry entry = measured("a", "b", 1000);
  entry.workers[0].samples_ns = {970, 980, 990, 1000, 1000, 1010};
  entry.lo_ns = 970;
  entry.hi_ns = 1010;
  conclude(entry, true);
  EXPECT_EQ(entry.interval, "within");
  EXPECT_EQ(entry.lo_ns, 970);
  EXPECT_EQ(entry.hi_ns, 1010);
  EXPECT_EQ(entry.median_ns, 1000);
  EXPECT_EQ(texts_of(entry.warnings), Texts{});
}

TEST(Interval, AnUnknownSpreadIsSaidNotInvented) {
  Entry entry = measured("a", "b", 1000);
  warn(entry.warnings, "few-rounds");
  conclude(entry, false);
  EXPECT_EQ(entry.interval, "range");
  EXPECT_EQ(entry.lo_ns, 990);
  EXPECT_EQ(entry.hi_ns, 1020);
  EXPECT_EQ(texts_of(entry.warnings), (Texts{"few rounds", "one process"}));
}

TEST(Interval, SixProcessesSpeakForThemselves) {
  Entry entry = with_workers({103, 100, 101, 106, 104, 105});
  entry.floor_ratio = 10.3;
  entry.gb_per_s = 2.0;
  conclude(entry, true);
  EXPECT_EQ(entry.interval, "processes");
  EXPECT_DOUBLE_EQ(entry.median_ns, 103.5);
  EXPECT_NEAR(entry.lo_ns, 100 + 0.357, 0.001);
  EXPECT_NEAR(entry.hi_ns, 106 - 0.357, 0.001);
  EXPECT_DOUBLE_EQ(entry.floor_ratio, 10.35);
  EXPECT_DOUBLE_EQ(*entry.gb_per_s, 2.0 * 103 / 103.5);
}

TEST(Interval, ThreeProcessesHaveARangeAndNoShareIsClaimed) {
  Entry entry = with_workers({100, 104, 97});
  entry.lo_ns = 96;
  entry.hi_ns = 105;
  conclude(entry, true);
  EXPECT_EQ(entry.interval, "range");
  EXPECT_DOUBLE_EQ(entry.median_ns, 100);
  EXPECT_EQ(entry.lo_ns, 96);
  EXPECT_EQ(entry.hi_ns, 105);
  EXPECT_EQ(texts_of(entry.warnings), Texts{});
}

TEST(Interval, BelowTwiceTheFloorItWarnsOnce) {
  Entry entry = measured("a", "b", 39);
  entry.floor_ratio = 1.95;
  conclude(entry, true);
  conclude(entry, true);
  EXPECT_EQ(texts_of(entry.warnings), Texts{"near floor"});
  Entry above = measured("a", "b", 40);
  above.floor_ratio = 2;
  conclude(above, true);
  EXPECT_EQ(texts_of(above.warnings), Texts{});
}

}  // namespace
}  // namespace dlbench::results
