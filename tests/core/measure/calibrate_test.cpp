#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "measure/round.hpp"

namespace {

using dlbench::measure::calibrate;

constexpr double kTarget = 1e6;
constexpr std::uint64_t kPlenty = 1'000'000'000;
constexpr double kStart = 500;  // what a block costs beside its iterations

/// Blocks of a body whose cost is known; `disturbed` adds to the readings of that number.
struct Simulated {
  double cost = 1;
  std::map<int, double> disturbed = {};
  int readings = 0;
  double spent = 0;

  std::optional<double> operator()(std::uint64_t iterations) {
    double ns = kStart + cost * static_cast<double>(iterations);
    if (const auto extra = disturbed.find(readings); extra != disturbed.end()) ns += extra->second;
    ++readings;
    spent += ns;
    return ns;
  }
};

TEST(Calibrate, FillsTheTargetWhateverTheCost) {
  for (const double cost : {0.3, 2.0, 21.0, 105.0, 1800.0, 17'000.0, 240'000.0}) {
    Simulated body{cost};
    const std::uint64_t iterations = calibrate(std::ref(body), kTarget, kPlenty);
    EXPECT_NEAR(static_cast<double>(iterations) * cost, kTarget, 0.15 * kTarget) << cost;
  }
}

TEST(Calibrate, TakesOneIterationOfASlowBody) {
  Simulated body{30e6};
  EXPECT_EQ(calibrate(std::ref(body), kTarget, kPlenty), 1U);
  EXPECT_EQ(body.readings, 2);
}

TEST(Calibrate, ReadsABodyOfSecondsOnce) {
  Simulated body{4e9};
  EXPECT_EQ(calibrate(std::ref(body), kTarget, kPlenty), 1U);
  EXPECT_EQ(body.readings, 1);
}

TEST(Calibrate, IsCheapBesideTheRoundsItIsFor) {
  for (const double cost : {2.0, 105.0, 1800.0}) {
    Simulated body{cost};
    calibrate(std::ref(body), kTarget, kPlenty);
    EXPECT_LT(body.spent, kTarget) << cost;
    EXPECT_LT(body.readings, 10) << cost;
  }
}

TEST(Calibrate, OnePreemptedReadingDoesNotEndTheGrowth) {
  Simulated calm{105};
  const std::uint64_t undisturbed = calibrate(std::ref(calm), kTarget, kPlenty);
  for (int reading = 0; reading < calm.readings; ++reading) {
    for (const double preempted : {3e4, 4e5, 5e6, 2e8}) {
      Simulated body{105, {{reading, preempted}}};
      const std::uint64_t iterations = calibrate(std::ref(body), kTarget, kPlenty);
      EXPECT_GT(iterations, undisturbed * 8 / 10) << reading << ' ' << preempted;
      EXPECT_LE(iterations, undisturbed * 12 / 10) << reading << ' ' << preempted;
    }
  }
}

TEST(Calibrate, ASlowFirstCallDoesNotEndTheGrowth) {
  Simulated body{105, {{0, 8e6}, {1, 5e4}}};
  const std::uint64_t iterations = calibrate(std::ref(body), kTarget, kPlenty);
  EXPECT_GT(iterations, 8000U);
}

TEST(Calibrate, StaysAtMost) {
  for (const std::uint64_t most : {1ULL, 7ULL, 1000ULL}) {
    Simulated body{2};
    std::uint64_t longest = 0;
    const auto watched = [&](std::uint64_t iterations) {
      longest = std::max(longest, iterations);
      return body(iterations);
    };
    EXPECT_EQ(calibrate(watched, kTarget, most), most);
    EXPECT_LE(longest, most);
  }
  Simulated body{2};
  EXPECT_EQ(calibrate(std::ref(body), kTarget, 0), 1U);
}

TEST(Calibrate, EndsWhereTheClockSeesNothing) {
  const auto inconclusive = [](std::uint64_t) { return std::optional<double>(0); };
  EXPECT_EQ(calibrate(inconclusive, kTarget, kPlenty), kPlenty);
  EXPECT_EQ(calibrate(inconclusive, kTarget, std::numeric_limits<std::uint64_t>::max()),
            std::numeric_limits<std::uint64_t>::max());
}

TEST(Calibrate, IsZeroWhereTheBodyStopped) {
  for (int last = 0; last < 4; ++last) {
    Simulated body{105};
    const auto stopping = [&](std::uint64_t iterations) -> std::optional<double> {
      if (body.readings == last) return std::nullopt;
      return body(iterations);
    };
    EXPECT_EQ(calibrate(stopping, kTarget, kPlenty), 0U) << last;
  }
}

}  // namespace
