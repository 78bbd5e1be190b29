#include "coverage.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace {

using namespace dlbench::stats;

constexpr std::size_t kTrials = 4000;  // scatter by 0.35 %
constexpr std::uint64_t kSeed = 20240229;

void print(const Coverage& row) {
  std::printf("  %-44s %5.1f %%  %4.1f rounds\n", row.source.c_str(), 100 * row.share, row.rounds);
}

/// What docs/explanation/intervals.md has for such rounds, in per cent, and 1 % for the scatter of
/// the trials.
struct Reported {
  double least, most;
};

void expect_reported(const Coverage& row, Reported reported) {
  print(row);
  EXPECT_GE(row.share, (reported.least - 1) / 100) << row.source;
  EXPECT_LE(row.share, (reported.most + 1) / 100) << row.source;
}

constexpr Reported kAtRandom{95.1, 96.6};
// The record's own drift remains, of which no interval of few rounds can know.
constexpr Reported kInBlocks{91.9, 96.0};
constexpr Reported kKnown{93.5, 96.6};
// Neighbors that are alike tell less than their number says: no 95 %, and the docs say so.
constexpr Reported kAlike{87, 91};

TEST(Coverage, OfRecordedRoundsIsAsToldTheStopIncluded) {
  const auto table = recorded_coverage({}, kTrials, kSeed);
  ASSERT_EQ(table.size(), 16U);
  for (const Coverage& row : table) {
    const bool blocks = row.source.find("in blocks") != std::string::npos;
    expect_reported(row, blocks ? kInBlocks : kAtRandom);
  }
}

TEST(Coverage, OfKnownDistributionsIsAsToldTheStopIncluded) {
  for (const Coverage& row : parametric_coverage({}, kTrials, kSeed)) {
    expect_reported(row, row.source.rfind("drifting", 0) == 0 ? kAlike : kKnown);
  }
}

TEST(Coverage, TheSpreadsMakeItStopEverywhereBetweenSixAndTwentyFour) {
  double least = 24;
  double most = 6;
  for (const Coverage& row : parametric_coverage({}, 300, kSeed)) {
    least = std::min(least, row.rounds);
    most = std::max(most, row.rounds);
  }
  EXPECT_LT(least, 6.5);
  EXPECT_GT(most, 23);
}

TEST(Coverage, AWrongTruthIsNotCovered) {
  const Draw draw = resampled({98, 99, 100, 101, 102});
  EXPECT_GT(coverage("right", draw, 100, {}, 500, 1).share, 0.9);
  EXPECT_LT(coverage("wrong", draw, 103, {}, 500, 1).share, 0.01);
}

TEST(Coverage, IsTheSameFromTheSameSeed) {
  const Draw draw = [](Random& random, std::span<double> rounds) {
    for (double& ns : rounds) ns = 100 + random.normal();
  };
  const double share = coverage("", draw, 100, {}, 500, 7).share;
  EXPECT_EQ(coverage("", draw, 100, {}, 500, 7).share, share);
  EXPECT_NE(coverage("", draw, 100, {}, 500, 8).share, share);
}

TEST(Coverage, TwoSidesThatAreOneDoNotDiffer) {
  for (const std::size_t processes : {1U, 2U, 3U, 4U, 6U}) {
    for (const std::size_t references : {2U, 3U, 6U, 10U, 30U}) {
      const Coverage row = same_side_coverage(processes, references, 0.03, kTrials, kSeed);
      print(row);
      EXPECT_GE(row.share, 0.945) << row.source;
      EXPECT_LE(row.share, 0.99) << row.source;
    }
  }
}

}  // namespace
