#include "stats/shape.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "random.hpp"
#include "recorded_rounds.hpp"
#include "stats/stopping.hpp"

namespace {

using namespace dlbench::stats;
using Draw = std::function<double(Random&)>;
using Test = bool (*)(std::span<const double>);

bool drifts_alone(std::span<const double> values) {
  return drifts(values);
}

/// How often `test` speaks of so many values.
double alarms(Test test, const Draw& draw, std::size_t count, int trials = 4000) {
  Random random(20240229 + count);
  int spoke = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> values(count);
    for (double& value : values) value = draw(random);
    spoke += test(values) ? 1 : 0;
  }
  return static_cast<double>(spoke) / trials;
}

/// What honest rounds look like: from steady to wild, none with two modes or a trend.
const std::vector<Draw>& honest() {
  static const std::vector<Draw> kAll{
      [](Random& random) { return 100 + random.normal(); },
      [](Random& random) { return std::max(1.0, 100 + 20 * random.normal()); },
      [](Random& random) { return 100 * std::exp(0.5 * random.normal()); },
      [](Random& random) { return 50 + 50 * random.exponential(); },
      [](Random& random) { return 80 + 40 * random.uniform(); },
      [](Random& random) {
        const double usual = 100 + 3 * random.normal();
        return random.uniform() < 0.15 ? usual + 30 * random.exponential() : usual;
      }};
  return kAll;
}

TEST(Bimodal, IsSilentOnHonestRounds) {
  for (std::size_t i = 0; i < honest().size(); ++i) {
    for (const std::size_t count : {6U, 12U, 18U, 24U}) {
      EXPECT_LE(alarms(is_bimodal, honest()[i], count), 0.01) << i << " with " << count;
    }
  }
}

TEST(Bimodal, IsSilentWhereTheRoundsStoppedWhenTheyWerePrecise) {
  for (std::size_t i = 0; i < honest().size(); ++i) {
    Random random(i);
    int spoke = 0;
    for (int trial = 0; trial < 2000; ++trial) {
      std::vector<double> values;
      do {
        for (int more = 0; more < 6; ++more) values.push_back(honest()[i](random));
      } while (!is_precise(values, {}));
      spoke += is_bimodal(values) ? 1 : 0;
    }
    EXPECT_LE(spoke, 20) << i;
  }
}

TEST(Bimodal, TwoGroupsAreSeen) {
  const Draw two = [](Random& random) {
    return 100 + random.normal() + (random.uniform() < 0.4 ? 30 : 0);
  };
  EXPECT_GT(alarms(is_bimodal, two, 12), 0.8);
  EXPECT_GT(alarms(is_bimodal, two, 24), 0.95);
}

TEST(Bimodal, AGapTooSmallToMatterIsNotTold) {
  const Draw near = [](Random& random) {
    return 100 + 0.01 * random.normal() + (random.uniform() < 0.5 ? 2 : 0);
  };
  EXPECT_EQ(alarms(is_bimodal, near, 24), 0);
}

TEST(Bimodal, AFewOutliersAreNoMode) {
  std::vector<double> values(22, 100);
  values.insert(values.end(), {200, 200});
  EXPECT_FALSE(is_bimodal(values));
  values.insert(values.end(), 8, 200);
  EXPECT_TRUE(is_bimodal(values));
}

TEST(Drift, IsSilentOnHonestRounds) {
  for (std::size_t i = 0; i < honest().size(); ++i) {
    for (const std::size_t count : {6U, 12U, 24U, 60U}) {
      EXPECT_LE(alarms(drifts_alone, honest()[i], count), 0.01) << i << " with " << count;
    }
  }
}

TEST(Drift, ARiseAndAFallAreSeen) {
  for (const double step : {1.0, -1.0}) {
    for (const std::size_t count : {12U, 24U, 60U}) {
      Random random(3);
      int spoke = 0;
      for (int trial = 0; trial < 200; ++trial) {
        std::vector<double> values;
        for (std::size_t i = 0; i < count; ++i) {
          const double share = static_cast<double>(i) / static_cast<double>(count);
          values.push_back(100 + step * 20 * share + 2 * random.normal());
        }
        spoke += drifts(values) ? 1 : 0;
      }
      EXPECT_GT(spoke, 190) << count;
    }
  }
  EXPECT_TRUE(drifts(std::vector<double>{100, 102, 104, 106, 108, 110}));
  EXPECT_FALSE(drifts(std::vector<double>{100, 102, 104, 106, 110, 108}));
}

TEST(Drift, OneOfSeveralWorkersIsBlamedAsSeldomAsOneAlone) {
  constexpr std::size_t kWorkers = 6;
  constexpr int kTrials = 2000;
  Random random(5);
  int spoke = 0, alone = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    bool any = false, any_alone = false;
    for (std::size_t worker = 0; worker < kWorkers; ++worker) {
      std::vector<double> values(12);
      for (double& value : values) value = 100 * std::exp(0.3 * random.normal());
      any = any || drifts(values, kWorkers);
      any_alone = any_alone || drifts(values);
    }
    spoke += any ? 1 : 0;
    alone += any_alone ? 1 : 0;
  }
  EXPECT_LE(spoke, kTrials / 100);
  EXPECT_GT(alone, kTrials / 100);
}

TEST(Drift, AChangeTooSmallToMatterIsNotTold) {
  std::vector<double> values;
  for (int i = 0; i < 24; ++i) values.push_back(100 + 0.1 * i);
  EXPECT_FALSE(drifts(values));
}

TEST(Drift, RecordedRoundsInAnyOrderDoNotDrift) {
  Random random(9);
  for (const RecordedRounds& recorded : recorded_rounds()) {
    int spoke = 0;
    for (int trial = 0; trial < 1000; ++trial) {
      std::vector<double> values(24);
      for (double& value : values) value = recorded.ns[random.below(recorded.ns.size())];
      spoke += drifts(values) ? 1 : 0;
    }
    EXPECT_LE(spoke, 10) << recorded.exchange;
  }
}

}  // namespace
