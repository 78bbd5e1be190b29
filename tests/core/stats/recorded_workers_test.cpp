// Compares the statistics of processes with recorded processes: their tails are heavier than a
// normal distribution's, and what is right for that one is wrong for them.
#include "recorded_workers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "random.hpp"
#include "stats/change.hpp"
#include "stats/process_spread.hpp"
#include "stats/stats.hpp"

namespace dlbench::stats {
namespace {

constexpr std::size_t kTrials = 4000;
constexpr std::uint64_t kSeed = 20240229;

/// So many of them, none twice.
std::vector<double> some_of(std::span<const double> record, std::size_t count, Random& random) {
  std::vector<double> all(record.begin(), record.end());
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(all[i], all[i + random.below(all.size() - i)]);
  }
  all.resize(count);
  return all;
}

TEST(RecordedWorkers, OneMoreLiesWithinTheHalfWidthOfOthers) {
  for (const std::size_t references : {3U, 5U, 6U, 10U, 19U, 20U, 40U, 60U}) {
    std::size_t held = 0, trials = 0;
    for (const std::span<const double> record : recorded_workers()) {
      const double center = median(record);
      Random random(kSeed);
      for (std::size_t i = 0; i < kTrials; ++i, ++trials) {
        std::vector<double> drawn = some_of(record, references + 1, random);
        const double one = drawn.back();
        drawn.pop_back();
        held += std::abs(one - center) <= center * between_half_width(drawn) ? 1 : 0;
      }
    }
    const double share = static_cast<double>(held) / static_cast<double>(trials);
    std::printf("  one more, of %2zu references   %5.1f %%\n", references, 100 * share);
    EXPECT_GE(share, 0.92) << references;
    EXPECT_LE(share, 0.98) << references;
  }
}

/// Each cell by itself must be rarer than the whole comparison is allowed to be, by its cells.
TEST(RecordedWorkers, FewOfThemASideAlarmForNothingAsSeldomAsTold) {
  constexpr double kAlarms = 0.01;
  constexpr std::size_t kCells = 20;
  for (const std::size_t processes : {1U, 2U, 3U}) {
    for (const std::size_t references : {6U, 20U, 60U}) {
      std::size_t alarms = 0, trials = 0;
      for (const std::span<const double> record : recorded_workers()) {
        Random random(kSeed);
        for (std::size_t i = 0; i < kTrials; ++i, ++trials) {
          const std::vector<double> drawn = some_of(record, references + 2 * processes, random);
          const std::span<const double> all(drawn);
          MeasuredSide base, head;
          const auto sides = all.first(2 * processes);
          base.medians.assign(sides.begin(),
                              sides.begin() + static_cast<std::ptrdiff_t>(processes));
          head.medians.assign(sides.begin() + static_cast<std::ptrdiff_t>(processes), sides.end());
          const double spread = relative_spread(all.last(references));
          Changes changes(kAlarms / kCells);
          const auto noise = reference_noise(spread, references);
          alarms += changes.of(base, head, noise).p * kCells <= kAlarms ? 1 : 0;
        }
      }
      const double share = static_cast<double>(alarms) / static_cast<double>(trials);
      std::printf("  %zu a side, %2zu references: %.3f %% of cells\n", processes, references,
                  100 * share);
      EXPECT_LE(share, 3 * kAlarms / kCells)
          << processes << " a side, " << references << " references";
    }
  }
}

}  // namespace
}  // namespace dlbench::stats
