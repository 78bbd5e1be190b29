#include <algorithm>

#include "fixture.hpp"

namespace dlbench::supervisor {
namespace {

/// One pair on a case sweep of all cases.
class CaseSweepTest : public FleetTest {
 protected:
  CaseSweepTest() {
    axes_.cases = {"all"};
    axes_.sizes = {65536};
    axes_.producers = {"a"};
    axes_.consumers = {"b"};
  }

  /// How often the worker was requested for a round of this case.
  std::ptrdiff_t rounds_of(const std::string& case_name) const {
    const std::vector<std::string> log = lines("log");
    std::string id;
    for (const std::string& line : log) {
      if (line.find("\"case\":\"" + case_name + "\"") == std::string::npos) continue;
      const std::size_t at = line.find("\"id\":");
      id = line.substr(at, line.find_first_of(",}", at) - at);
    }
    return std::count_if(log.begin(), log.end(), [&](const std::string& line) {
      return line.find("\"do\":\"round\"") != std::string::npos &&
             line.find(id + ",") != std::string::npos;
    });
  }
};

TEST_F(CaseSweepTest, OnlyWhatEndsOtherwiseIsTimed) {
  set("FAKE_WORKER_LOG", file("log"));
  run({library("a", "copies=f32-align4"), library("b", "good", "call-f16=refused")});
  EXPECT_EQ(summary_.recorded, plan::all_cases().size());
  EXPECT_EQ(outcome("a>b"), Outcome::zero_copy);
  EXPECT_EQ(outcome("a>b f32-align4"), Outcome::copy);
  EXPECT_EQ(outcome("a>b f16"), Outcome::refused);
  EXPECT_EQ(summary_.measured, 2u);
  const Entry& sweep_case = entries_.at("a>b f64");
  EXPECT_EQ(sweep_case.outcome, Outcome::not_run);
  EXPECT_EQ(sweep_case.code, "untimed");
  EXPECT_EQ(sweep_case.found, Outcome::zero_copy);
  EXPECT_EQ(sweep_case.evidence.address, Proof::yes);
  EXPECT_EQ(sweep_case.observed.used, "dlpack");
  EXPECT_EQ(sweep_case.reason, "zero-copy, not timed: same outcome as f32");
  EXPECT_GT(rounds_of("f32"), 0);
  EXPECT_GT(rounds_of("f32-align4"), 0);
  EXPECT_EQ(rounds_of("f64"), 0);
}

TEST_F(CaseSweepTest, EachExchangeIsDroppedOnce) {
  set("FAKE_WORKER_LOG", file("log"));
  run({library("a"), library("b", "good", "call-f16=refused;round=refused")});
  std::multiset<std::string> dropped;
  for (const std::string& line : lines("log")) {
    if (line.find("\"do\":\"drop\"") != std::string::npos) dropped.insert(line);
  }
  EXPECT_GT(dropped.size(), 1U);
  for (const std::string& line : dropped) EXPECT_EQ(dropped.count(line), 1U) << line;
}

TEST_F(CaseSweepTest, WhatTheLastLookFindsIsTimedToo) {
  run({library("a", "lazily=f64"), library("b")});
  EXPECT_EQ(outcome("a>b f64"), Outcome::copy);
  EXPECT_GT(entries_.at("a>b f64").median_ns, 0);
  EXPECT_EQ(entries_.at("a>b i8").found, Outcome::zero_copy);
}

TEST_F(CaseSweepTest, AnArrayWithoutElementsEndsLikeNothing) {
  run({library("a", "shows-nothing=f32-empty"), library("b")});
  const Entry& empty = entries_.at("a>b:0 f32-empty");
  EXPECT_EQ(empty.code, "untimed");
  EXPECT_EQ(empty.found, Outcome::unproven);
  EXPECT_EQ(empty.reason, "unproven, not timed: an array without elements cannot be judged");
}

TEST_F(CaseSweepTest, WhatOneWorkerTimedTheOthersTimeToo) {
  options_.replicas = 3;
  run({library("a", "copies=f64@" + file("first")), library("b")});
  const Entry& sweep_case = entries_.at("a>b f64");
  EXPECT_EQ(sweep_case.outcome, Outcome::copy);
  EXPECT_EQ(sweep_case.workers.size(), 3u);
  const Warning::Data found{{"zero-copy", "2"}, {"copy", "1"}};
  EXPECT_EQ(std::count_if(sweep_case.warnings.begin(), sweep_case.warnings.end(),
                          [&](const Warning& one) {
                            return one.code == "workers-disagree" && one.data == found;
                          }),
            1);
}

TEST_F(CaseSweepTest, WithoutItsBaselineACaseIsTimed) {
  run({library("a"), library("b", "good", "call-f32=refused")});
  EXPECT_EQ(outcome("a>b"), Outcome::refused);
  EXPECT_EQ(outcome("a>b f64"), Outcome::zero_copy);
}

TEST_F(CaseSweepTest, NamedCasesAreTimed) {
  axes_.cases = {"f32", "f64"};
  run({library("a"), library("b")});
  EXPECT_EQ(with(Outcome::zero_copy).size(), 2u) << reason("a>b");
}

TEST_F(CaseSweepTest, ADeathUnderTheGuardLeavesWhatWasSeen) {
  run({library("a"), library("b", "good", "guard-f64=segv")});
  const Entry& sweep_case = entries_.at("a>b f64");
  EXPECT_EQ(sweep_case.found, Outcome::zero_copy);
  ASSERT_FALSE(sweep_case.warnings.empty());
  EXPECT_EQ(sweep_case.warnings.front().code, "no-guard");
  EXPECT_EQ(sweep_case.warnings.front().data, (Warning::Data{{"signal", "SIGSEGV"}}));
  EXPECT_EQ(with(Outcome::crashed).size(), 0u);
  EXPECT_EQ(summary_.recorded, plan::all_cases().size());
}

TEST_F(CaseSweepTest, ADeathUnderTheGuardOfPhasesAloneEndsNoRun) {
  axes_.phases = {"import"};
  run({library("a"), library("b", "good", "guard-f64=segv")});
  EXPECT_EQ(with(Outcome::crashed).size(), 0u);
  EXPECT_GT(summary_.recorded, 0U);
}

TEST_F(CaseSweepTest, AfterADeathTheOthersAreStillComparedWithThePlainArray) {
  run({library("a"), library("b", "good", "call-f64=segv")});
  EXPECT_EQ(outcome("a>b f64"), Outcome::crashed);
  EXPECT_EQ(summary_.measured, 1u);
  EXPECT_EQ(entries_.at("a>b i8").found, Outcome::zero_copy);
}

TEST_F(CaseSweepTest, TwoTimeOutsAreEnough) {
  options_.timeout_s = kShort;
  set("FAKE_WORKER_LOG", file("log"));
  run({library("a"), library("b", "good", "call-f64=hang;call-i8=hang;call-i16=hang")});
  EXPECT_EQ(with(Outcome::timed_out), (std::set<std::string>{"a>b f64", "a>b i8"}));
  const Entry& spared = entries_.at("a>b i16");
  EXPECT_EQ(spared.code, "others-timed-out");
  EXPECT_EQ(spared.reason, "not tried, because the cases f64 and i8 timed out");
  EXPECT_FALSE(spared.found);
  EXPECT_EQ(outcome("a>b"), Outcome::zero_copy);
}

TEST_F(CaseSweepTest, WhatWasFoundIsNotLookedForAgain) {
  run({library("a"), library("b")});
  set("FAKE_WORKER_LOG", file("log"));
  options_.resume = true;
  run({library("a"), library("b")});
  EXPECT_EQ(summary_.recorded, plan::all_cases().size());
  EXPECT_TRUE(lines("log").empty());
}

}  // namespace
}  // namespace dlbench::supervisor
