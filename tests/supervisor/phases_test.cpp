#include "supervisor/rounds/phases.hpp"

#include "core/model/warnings.hpp"
#include "fixture.hpp"
#include "stats/stopping.hpp"
#include "supervisor/process/channel.hpp"
#include "supervisor/wire.hpp"

namespace dlbench::supervisor {
namespace {

PhaseTime round(double exchange, double unexplained) {
  return {exchange, {10, 20, 30}, 40, 5, unexplained};
}

PhaseRounds measured(const std::vector<PhaseTime>& rounds) {
  PhaseRounds phases;
  phases.via = "proxy";
  phases.calls = {{"export", "__dlpack__(max_version=(1,0)) fails", 0},
                  {"query", "__dlpack_device__()", 0},
                  {"export", "__dlpack__()", 0}};
  phases.rounds = rounds;
  return phases;
}

TEST(Phases, CallsOfAPhaseAreAddedUp) {
  const PhaseRounds phases = measured({round(100, 1), round(100, 1)});
  EXPECT_EQ(samples_of(phases, "export"), (std::vector<double>{40, 40}));
  EXPECT_EQ(samples_of(phases, "query"), (std::vector<double>{20, 20}));
  EXPECT_EQ(samples_of(phases, "import"), (std::vector<double>{40, 40}));
  EXPECT_EQ(samples_of(phases, "release"), (std::vector<double>{5, 5}));
}

TEST(Phases, WhatIsNotAskedIsNoSample) {
  PhaseRounds phases = measured({round(100, 1)});
  phases.calls = {{"export", "__dlpack__()", 0}};
  EXPECT_TRUE(samples_of(phases, "query").empty());
}

TEST(Phases, TheBreakdownHoldsMediansAndAnInterval) {
  std::vector<PhaseTime> rounds;
  for (int i = 0; i < 7; ++i) rounds.push_back(round(100 + i, i - 2));
  const PhaseRounds phases = measured(rounds);
  const PhaseRounds* const one = &phases;
  const Breakdown breakdown = breakdown_of({&one, 1});
  EXPECT_EQ(breakdown.via, "proxy");
  EXPECT_EQ(breakdown.exchange_ns, 103);
  EXPECT_EQ(breakdown.unexplained_ns, 1);
  const stats::Interval interval =
      stats::rounds_interval(std::vector<double>{-2, -1, 0, 1, 2, 3, 4});
  EXPECT_EQ(breakdown.unexplained_lo_ns, interval.lo);
  EXPECT_EQ(breakdown.unexplained_hi_ns, interval.hi);
  ASSERT_EQ(breakdown.parts.size(), 5U);
  EXPECT_EQ(breakdown.parts[1].ns, 20);
  EXPECT_EQ(breakdown.parts[3].phase, "import");
  EXPECT_EQ(breakdown.parts[4].phase, "release");
}

std::vector<std::string> doubts_of(const std::vector<PhaseTime>& rounds) {
  const PhaseRounds phases = measured(rounds);
  const PhaseRounds* const one = &phases;
  return dlbench::testing::texts_of(doubts(breakdown_of({&one, 1}), {&one, 1}));
}

TEST(Phases, WhatDoesNotAddUpIsSaid) {
  const std::vector<std::string> more = doubts_of(std::vector<PhaseTime>(6, round(1000, 80)));
  ASSERT_EQ(more.size(), 1U);
  EXPECT_NE(more[0].find("8 %; the exchange takes longer"), std::string::npos) << more[0];
  EXPECT_NE(doubts_of(std::vector<PhaseTime>(6, round(1000, -80)))[0].find("less"),
            std::string::npos);
}

TEST(Phases, OfAShortExchangeNoShareIsSaid) {
  const std::vector<std::string> found = doubts_of(std::vector<PhaseTime>(6, round(120, 25)));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].find("the phases do not explain 25 ns; the exchange takes longer"),
            std::string::npos)
      << found[0];
}

TEST(Phases, WhatAddsUpIsNotDoubted) {
  EXPECT_TRUE(doubts_of(std::vector<PhaseTime>(6, round(1000, 45))).empty());
  // 18 % of a short exchange, but less than the proxy's own cost is known to.
  EXPECT_TRUE(doubts_of(std::vector<PhaseTime>(6, round(100, 18))).empty());
  // The interval holds zero.
  EXPECT_TRUE(doubts_of({round(1000, 300), round(1000, -200), round(1000, 250), round(1000, 200),
                         round(1000, 300), round(1000, 310)})
                  .empty());
}

TEST(Phases, ASlowCoreIsSaidIfItMayMoveTheMedian) {
  std::vector<PhaseTime> rounds(6, round(1000, 1));
  rounds[2].slow = rounds[3].slow = true;
  EXPECT_TRUE(doubts_of(rounds).empty());  // the median bears two
  rounds[5].slow = true;
  const std::vector<std::string> found = doubts_of(rounds);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0], "slow CPU in 3 of 6 rounds of its phases");
}

TEST(Phases, AnAnswerMustFitTheSplit) {
  const PhaseRounds phases = measured({});
  nlohmann::json ok = {{"exchange", 100.0}, {"calls", {1.0, 2.0, 3.0}}, {"import", -1.0},
                       {"release", 4.0},    {"unexplained", -9.0},      {"canary_ns", 12.0}};
  EXPECT_EQ(read_phases(ok, phases).unexplained_ns, -9);
  ok["calls"] = {1.0, 2.0};
  EXPECT_THROW(read_phases(ok, phases), ProtocolError);
  ok["calls"] = {1.0, 2.0, "x"};
  EXPECT_THROW(read_phases(ok, phases), ProtocolError);
  ok["calls"] = {1.0, 2.0, 3.0};
  ok["exchange"] = 0;
  EXPECT_THROW(read_phases(ok, phases), ProtocolError);
}

TEST(Phases, ASplitMustNameKnownPhases) {
  PhaseRounds phases;
  nlohmann::json ok = {{"via", "type"},
                       {"iterations", 7},
                       {"calls", {{{"phase", "export"}, {"call", "x()"}, {"raised", true}}}}};
  read_split(ok, phases);
  EXPECT_TRUE(phases.prepared);
  EXPECT_EQ(phases.calls[0].what, "x() fails");
  ok["calls"][0]["phase"] = "import";
  EXPECT_THROW(read_split(ok, phases), ProtocolError);
  ok["calls"] = nlohmann::json::array();
  ok["iterations"] = 0;
  EXPECT_THROW(read_split(ok, phases), ProtocolError);
}

/// Whole runs; entries by phase.
class PhasesRun : public FleetTest {
 protected:
  void run_phases(const std::string& consumer) {
    axes_.phases = {"all"};
    run({library("a", "good", consumer)});
    for (const Entry& entry : contents_.entries) by_phase_[entry.cell.phase] = entry;
  }
  std::map<std::string, Entry> by_phase_;
};

TEST_F(PhasesRun, EachPhaseIsACellAndTheExchangeHasTheBreakdown) {
  run_phases("good");
  ASSERT_EQ(by_phase_.size(), 5U);
  EXPECT_EQ(by_phase_.at("export").median_ns, 400);
  EXPECT_EQ(by_phase_.at("import").median_ns, 300);
  EXPECT_EQ(by_phase_.at("release").median_ns, 100);
  EXPECT_EQ(by_phase_.at("export").workers[0].samples_ns.size(), 6U);
  EXPECT_FALSE(by_phase_.at("export").breakdown);
  const Entry& whole = by_phase_.at("exchange");
  EXPECT_EQ(whole.median_ns, 1000);
  ASSERT_TRUE(whole.breakdown);
  EXPECT_EQ(whole.breakdown->unexplained_ns, 10);
  // The consumer did not ask for the device.
  EXPECT_EQ(by_phase_.at("query").outcome, Outcome::no_protocol);
  EXPECT_NE(by_phase_.at("query").reason.find("device"), std::string::npos);
}

TEST_F(PhasesRun, ARoundWithASlowCoreIsMeasuredAgain) {
  run_phases("phases-briefly@2");
  EXPECT_EQ(by_phase_.at("import").workers[0].samples_ns, std::vector<double>(6, 300));
}

TEST_F(PhasesRun, ThoseThatCannotBeToldApartLeaveTheExchangeItsNumber) {
  for (const char* place : {"split=unsupported", "phases=refused"}) {
    SCOPED_TRACE(place);
    std::filesystem::remove(folder_ / "journal.jsonl");
    by_phase_.clear();
    run_phases(place);
    ASSERT_EQ(by_phase_.size(), 5U);
    EXPECT_EQ(by_phase_.at("exchange").median_ns, 1000);
    EXPECT_FALSE(by_phase_.at("exchange").breakdown);
    for (const char* phase : {"query", "export", "import", "release"}) {
      EXPECT_FALSE(is_measured(by_phase_.at(phase).outcome));
    }
  }
}

TEST_F(PhasesRun, AWorkerThatDiesOfThemLeavesTheExchangeToTheNext) {
  for (const char* place : {"split=segv", "phases=segv"}) {
    SCOPED_TRACE(place);
    std::filesystem::remove(folder_ / "journal.jsonl");
    by_phase_.clear();
    run_phases(place);
    EXPECT_EQ(by_phase_.at("exchange").median_ns, 1000);
    EXPECT_EQ(by_phase_.at("export").outcome, Outcome::crashed);
    EXPECT_NE(by_phase_.at("export").reason.find("separating the phases"), std::string::npos);
  }
}

TEST_F(PhasesRun, NobodyAsksForThemByDefault) {
  set("FAKE_WORKER_LOG", file("log"));
  run({library("a")});
  for (const std::string& line : lines("log")) {
    EXPECT_EQ(line.find("split"), std::string::npos) << line;
  }
  EXPECT_EQ(contents_.entries.size(), 1U);
}

}  // namespace
}  // namespace dlbench::supervisor
