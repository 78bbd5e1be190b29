#include "results/slope.hpp"

#include <gtest/gtest.h>

#include "core/model/warnings.hpp"
#include "random.hpp"
#include "sample.hpp"

namespace dlbench::results {
namespace {

using dlbench::testing::texts_of;
using testing::measured;

constexpr std::uint64_t kKiB = 1 << 10;
constexpr std::uint64_t kMiB = 1 << 20;
const std::map<std::string, CopySpeed> kSpeeds{{"default", {10, 2}}};  // 160 GB/s at the most

Entry entry(std::uint64_t bytes, double ns, double relative = 0.02, const char* clock = "call") {
  Entry one = measured("a", "b", ns);
  one.cell.exchange.bytes = bytes;
  one.cell.clock = clock;
  one.lo_ns = ns * (1 - relative);
  one.hi_ns = ns * (1 + relative);
  one.evidence = {};
  one.outcome = Outcome::unproven;
  return one;
}

std::vector<Entry> series(const std::vector<std::pair<std::uint64_t, double>>& times) {
  std::vector<Entry> entries;
  for (const auto& [bytes, ns] : times) entries.push_back(entry(bytes, ns));
  return entries;
}

/// "S", "Y" or "N" for each entry, in order.
std::string slopes(std::vector<Entry> entries) {
  judge_slopes(entries, kSpeeds);
  std::string words;
  for (const Entry& one : entries) words += "YNS"[static_cast<int>(one.evidence.slope)];
  return words;
}

TEST(Slope, FlatIsSharedFromAMebibyteOn) {
  EXPECT_EQ(slopes(series({{4 * kKiB, 1000}, {kMiB - 1, 1010}, {kMiB, 990}, {64 * kMiB, 1020}})),
            "SSYY");
  EXPECT_EQ(slopes(series({{4 * kKiB, 17000}, {kMiB, 17300}})), "SY") << "slow, but no slower";
}

TEST(Slope, AtTheMachinesRatesItIsACopy) {
  for (const double gb_per_s : {0.5, 5.0, 10.0, 100.0}) {
    const auto ns = [=](std::uint64_t bytes) {
      return 800 + static_cast<double>(bytes) / gb_per_s;
    };
    EXPECT_EQ(
        slopes(series({{4 * kKiB, ns(4 * kKiB)}, {kMiB, ns(kMiB)}, {64 * kMiB, ns(64 * kMiB)}})),
        "SNN")
        << gb_per_s << " GB/s, ten times the floor within a cache";
  }
}

TEST(Slope, WhatIsConvertedIsNotCalledOneMemory) {
  for (const char* word : {"precision", "dtype", "unit"}) {
    std::vector<Entry> flat = series({{4 * kKiB, 1000}, {kMiB, 1010}});
    for (Entry& one : flat) one.changed = {word};
    judge_slopes(flat, kSpeeds);
    const bool shares = std::string(word) == "unit";
    EXPECT_EQ(flat[1].outcome, shares ? Outcome::zero_copy : Outcome::unproven) << word;
    EXPECT_EQ(flat[1].warnings.empty(), shares) << word;
  }
}

TEST(Slope, ACopyThatTheFirstCallMayKeepIsNotShared) {
  const double copy_ns = static_cast<double>(kMiB) / kSpeeds.at("default").warm_gb_per_s;
  for (const double first_ns : {0.9 * copy_ns, 1.1 * copy_ns}) {
    std::vector<Entry> flat = series({{4 * kKiB, 1000}, {kMiB, 1010}});
    flat[1].workers = {{1010, 0.5 * copy_ns, {}}, {1010, first_ns, {}}};
    judge_slopes(flat, kSpeeds);
    const bool is_shared = first_ns < copy_ns;
    EXPECT_EQ(flat[1].evidence.slope, Proof::yes);
    EXPECT_EQ(flat[1].outcome, is_shared ? Outcome::zero_copy : Outcome::unproven);
    EXPECT_EQ(flat[1].warnings.empty(), is_shared);
  }
}

TEST(Slope, AStepIsSeenWhereItLies) {
  EXPECT_EQ(slopes(series({{4 * kKiB, 900}, {kMiB, 910}, {64 * kMiB, 7e6}})), "SYN");
  EXPECT_EQ(slopes(series({{4 * kKiB, 900}, {kMiB, 60e3}, {64 * kMiB, 950}})), "SNY");
}

TEST(Slope, WhatTheIntervalsLeaveOpenIsSkipped) {
  std::vector<Entry> noisy{entry(4 * kKiB, 17000, 0.3), entry(kMiB, 19000, 0.3)};
  EXPECT_EQ(slopes(noisy), "SS");
  EXPECT_EQ(slopes(series({{4 * kKiB, 1000}, {kMiB, 6000}})), "SS") << "too fast for a copy, but";
}

TEST(Slope, ATimeThatFallsIsNoEvidence) {
  EXPECT_EQ(slopes(series({{4 * kKiB, 60e3}, {kMiB, 30e3}})), "SS");
  EXPECT_EQ(slopes(series({{4 * kKiB, 60e3}, {kMiB, 2e3}})), "SY") << "no copy is that fast";
}

TEST(Slope, ItNeedsASmallerSizeAFloorAndTheHost) {
  EXPECT_EQ(slopes(series({{kMiB, 1000}})), "S");
  EXPECT_EQ(slopes(series({{kMiB, 1000}, {kMiB + kMiB / 2, 1000}})), "SS");
  std::vector<Entry> device = series({{4 * kKiB, 900}, {64 * kMiB, 7e6}});
  for (Entry& one : device) one.cell.exchange.device = "cuda:0";
  EXPECT_EQ(slopes(device), "SS");
  std::vector<Entry> elsewhere = series({{4 * kKiB, 900}, {64 * kMiB, 7e6}});
  for (Entry& one : elsewhere) one.cell.exchange.environment = "other";
  EXPECT_EQ(slopes(elsewhere), "SS");
  std::vector<Entry> mixed = series({{4 * kKiB, 900}, {64 * kMiB, 7e6}});
  mixed[0].cell.exchange.case_name = "f64";
  EXPECT_EQ(slopes(mixed), "SS");
}

TEST(Slope, ALazyCopyIsJudgedByReadyAndBothClocksAreTold) {
  std::vector<Entry> entries{entry(4 * kKiB, 20e3, 0.02, "call"), entry(kMiB, 21e3, 0.02, "call"),
                             entry(4 * kKiB, 22e3, 0.02, "ready"),
                             entry(kMiB, 250e3, 0.02, "ready")};
  judge_slopes(entries, kSpeeds);
  EXPECT_EQ(entries[1].evidence.slope, Proof::no);
  EXPECT_EQ(entries[3].evidence.slope, Proof::no);
  EXPECT_EQ(entries[1].outcome, Outcome::copy);
  EXPECT_NEAR(*entries[1].gb_per_s, static_cast<double>(kMiB) / 250e3, 1e-9);
  entries[3] = testing::refused("a", "b");
  entries[3].cell.clock = "ready";
  entries[1].evidence = {};
  entries[3].cell.exchange.bytes = kMiB;
  EXPECT_EQ(slopes(entries), "SSSS") << "`call` decides nothing if a wait follows";
}

TEST(Slope, AReadyThatWasNotMeasuredLeavesItOpen) {
  std::vector<Entry> entries = series({{4 * kKiB, 900}, {64 * kMiB, 950}});
  for (Entry& one : entries) one.has_ready = true;
  judge_slopes(entries, kSpeeds);
  EXPECT_EQ(entries[1].evidence.slope, Proof::skipped);
  EXPECT_EQ(entries[1].outcome, Outcome::unproven);
}

TEST(Slope, AFloorMeasuredOnABusyMachineMakesNoCopyShared) {
  std::vector<Entry> entries = series({{4 * kKiB, 900}, {16 * kMiB, 900 + 16.0 * kMiB / 40}});
  judge_slopes(entries, {{"default", {0.9, 2}}});
  EXPECT_EQ(entries[1].evidence.slope, Proof::no);
}

TEST(Slope, ItIsTheLastWordAndNoOther) {
  std::vector<Entry> entries = series({{4 * kKiB, 900}, {kMiB, 900}, {64 * kMiB, 7e6}});
  entries[1].evidence.address = Proof::no;
  entries[1].outcome = Outcome::copy;
  judge_slopes(entries, kSpeeds);
  EXPECT_EQ(entries[0].outcome, Outcome::unproven);
  EXPECT_EQ(entries[1].outcome, Outcome::copy);
  EXPECT_EQ(
      texts_of(entries[1].warnings),
      std::vector<std::string>{"address reports copied, slope reports shared: address decides"});
  EXPECT_EQ(entries[2].outcome, Outcome::copy);
  EXPECT_TRUE(entries[2].warnings.empty());
}

TEST(Slope, OfAResultThatNobodyReadsItDecidesNothing) {
  std::vector<Entry> entries = series({{4 * kKiB, 900}, {kMiB, 900}, {64 * kMiB, 7e6}});
  for (Entry& one : entries) {
    warn(one.warnings, "values-not-checked", "no attribute 'data_ptr'");
  }
  judge_slopes(entries, kSpeeds);
  EXPECT_EQ(entries[1].evidence.slope, Proof::yes) << "it is reported";
  EXPECT_EQ(entries[1].outcome, Outcome::unproven);
  EXPECT_EQ(entries[2].evidence.slope, Proof::no);
  EXPECT_EQ(entries[2].outcome, Outcome::unproven);
  EXPECT_FALSE(entries[2].gb_per_s);
}

TEST(Slope, AnHonestZeroCopyWithNoiseIsNeverCalledACopy) {
  stats::Random random(5);
  for (int trial = 0; trial < 2000; ++trial) {
    const double base = 100 * std::exp(5 * random.uniform());
    const auto noisy = [&] { return base * (1 + 0.05 * random.normal()); };
    std::vector<Entry> entries{entry(4 * kKiB, noisy(), 0.1), entry(kMiB, noisy(), 0.1),
                               entry(64 * kMiB, noisy(), 0.1)};
    const std::string words = slopes(entries);
    ASSERT_EQ(words.find('N'), std::string::npos) << words;
    ASSERT_EQ(words[2], 'Y');
  }
}

}  // namespace
}  // namespace dlbench::results
