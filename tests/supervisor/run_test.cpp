#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/model/warnings.hpp"
#include "fixture.hpp"
#include "model/error.hpp"
#include "supervisor/ledger/ledger.hpp"

namespace dlbench::supervisor {
namespace {

using Keys = std::set<std::string>;

TEST_F(FleetTest, MeasuresEveryCellOfTheMatrix) {
  run({library("a"), library("b"), library("c")});
  EXPECT_EQ(with(Outcome::zero_copy).size(), 9u);
  EXPECT_EQ(summary_.recorded, 9u);
  EXPECT_EQ(summary_.measured, 9u);
  EXPECT_EQ(summary_.signal, 0);
  EXPECT_EQ(watcher_.names.size(), 9u);
  const Entry& entry = entries_.at("a>b");
  EXPECT_EQ(entry.median_ns, 1000);
  EXPECT_EQ(entry.lo_ns, 1000);
  EXPECT_EQ(entry.hi_ns, 1000);
  EXPECT_EQ(entry.cpu_ns, 1000);
  EXPECT_EQ(entry.iterations, 100u);
  EXPECT_EQ(entry.floor_ratio, 50);
  EXPECT_FALSE(entry.gb_per_s);
  EXPECT_EQ(entry.observed.used, "dlpack");
  EXPECT_EQ(dlbench::testing::texts_of(entry.warnings), std::vector<std::string>{"judged again"});
  EXPECT_EQ(entry.imports, (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(entry.workers.size(), 1u);
  EXPECT_EQ(entry.workers[0].first_ns, 9000);
  EXPECT_EQ(entry.workers[0].samples_ns.size(), 6u);
  EXPECT_EQ(entry.workers[0].core_ns, 100);
  ASSERT_EQ(contents_.ends.size(), 1u);
}

TEST_F(FleetTest, WorkersTellOfThemselves) {
  run({library("native"), library("b")});
  ASSERT_EQ(contents_.workers.size(), 1u);
  const results::WorkerRecord& worker = contents_.workers.front();
  EXPECT_EQ(worker.imports, (std::vector<std::string>{"native", "b"}));
  EXPECT_EQ(worker.python, "3.11.7");
  EXPECT_EQ(worker.floors_ns.at("proxy"), 35);
  EXPECT_EQ(worker.reference_ns, 1000);
  EXPECT_EQ(worker.reference_core_ns, 100);
  EXPECT_EQ(worker.libraries.at("b"), "1.0");
  EXPECT_EQ(worker.import_s, 2.0);
}

TEST_F(FleetTest, AnyNumberOfReplicasComesToAnEnd) {
  options_.replicas = 70;
  run({library("a")});
  EXPECT_EQ(entries_.at("a>a").workers.size(), 70u);
}

TEST_F(FleetTest, EachOfNineReplicasHasAllRounds) {
  options_.replicas = 9;
  run({library("a")});
  std::vector<std::size_t> rounds;
  for (const WorkerNumbers& worker : entries_.at("a>a").workers) {
    rounds.push_back(worker.samples_ns.size());
  }
  EXPECT_EQ(rounds, (std::vector<std::size_t>{12, 12, 12, 12, 12, 12, 12, 12, 12}));
}

TEST_F(FleetTest, EachClockHasItsNumber) {
  plan::Library b = library("b");
  b.has_ready = true;
  axes_.producers = {"a"};
  axes_.consumers = {"b"};
  run({library("a"), b});
  EXPECT_EQ(entries_.at("a>b").median_ns, 1000);
  EXPECT_EQ(entries_.at("a>b/ready").median_ns, 2000);
}

TEST_F(FleetTest, TheDevicesTimeHasNoFloorOfTheHosts) {
  plan::Library a = library("a");
  a.devices = {"sim:0"};
  axes_.devices = {"sim:0"};
  run({a});
  EXPECT_EQ(entries_.at("a>a").floor_ratio, 50);
  EXPECT_EQ(entries_.at("a>a/device").median_ns, 1000);
  EXPECT_EQ(entries_.at("a>a/device").floor_ratio, 0);
}

TEST_F(FleetTest, WhatTheDevicesTimerCannotTellHasABoundAndNoNumber) {
  // Rows of 100 and steps of 1000 ns: an exchange of less than 20 ns cannot be distinguished from
  // none.
  std::vector<plan::Library> libraries{library("long", "device=20"), library("short", "device=19"),
                                       library("none", "device=-5")};
  for (plan::Library& each : libraries) each.devices = {"sim:0"};
  axes_.devices = {"sim:0"};
  axes_.consumers = {"long"};
  run(libraries);
  const Entry& timed = entries_.at("long>long/device");
  EXPECT_EQ(timed.median_ns, 20);
  ASSERT_TRUE(timed.device_timer);
  EXPECT_EQ(timed.device_timer->step_ns, 1000);
  EXPECT_EQ(timed.device_timer->empty_ns, 2000);
  EXPECT_EQ(timed.device_timer->scatter_ns, 0);
  EXPECT_FALSE(timed.below_ns);
  for (const char* name : {"short>long/device", "none>long/device"}) {
    const Entry& below = entries_.at(name);
    EXPECT_EQ(below.outcome, Outcome::unsupported) << name;
    EXPECT_EQ(below.code, "below-resolution") << name;
    EXPECT_EQ(below.found, Outcome::zero_copy) << name;
    EXPECT_EQ(below.evidence.write, Proof::yes) << name;
    EXPECT_EQ(below.below_ns, 20) << name;
    EXPECT_EQ(
        below.reason,
        "below 20.0 ns: a row of 100 exchanges cannot be distinguished from an empty row, because "
        "the device's timer has steps of 1.00 us");
    EXPECT_EQ(below.data.at("limit"), "step") << name;
    EXPECT_FALSE(entries_.at(std::string(name, std::strchr(name, '/'))).below_ns);
  }
}

/// Six libraries make 21 pairs, each in a worker of its own; three contexts fit into the device.
TEST_F(FleetTest, NoMoreWorkersLiveThanFitIntoADevice) {
  options_.isolate = true;
  const std::filesystem::path contexts = file("contexts");
  std::filesystem::create_directory(contexts);
  set("FAKE_WORKER_CONTEXTS", contexts.string());
  std::vector<plan::Library> libraries;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
    libraries.push_back(library(name));
    libraries.back().devices = {"cuda:0"};
  }
  axes_.devices = {"cuda:0"};
  options_.jobs = 4;
  options_.free_memory = 0;
  run(libraries);
  EXPECT_EQ(with(Outcome::zero_copy).size(), 3U * 36U);
  EXPECT_EQ(with(Outcome::out_of_memory), Keys{});
}

TEST_F(FleetTest, WithoutItsReadyAnAsynchronousCopyHasNoRate) {
  plan::Library b = library("b");
  b.has_ready = true;
  axes_.producers = {"a"};
  axes_.consumers = {"b", "c"};
  axes_.filter = "bytes:[0-9]+$";
  run({library("a", "copies=f32"), b, library("c")});
  ASSERT_EQ(entries_.size(), 2u);
  EXPECT_EQ(outcome("a>b"), Outcome::copy);
  EXPECT_FALSE(entries_.at("a>b").gb_per_s);
  EXPECT_TRUE(entries_.at("a>b").has_ready);
  EXPECT_EQ(entries_.at("a>c").gb_per_s, 4.096);
  EXPECT_FALSE(entries_.at("a>c").has_ready);
}

TEST_F(FleetTest, ExcludedCellsAreWrittenDown) {
  plan::Library b = library("b");
  b.protocols = {"convert"};
  run({library("a"), b});
  EXPECT_EQ(with(Outcome::no_protocol), (Keys{"a>b", "b>b"}));
  EXPECT_EQ(with(Outcome::zero_copy), (Keys{"a>a", "b>a"}));
}

TEST_F(FleetTest, WhoIsMeasuredIsAlone) {
  options_.jobs = 4;
  run({library("a", "good", "round=alone"), library("b", "good", "round=alone"),
       library("c", "good", "make=alone")});
  EXPECT_EQ(with(Outcome::zero_copy).size(), 9u);
}

TEST_F(FleetTest, NoisyCellsAreRefinedUpToALimit) {
  run({library("a", "noisy"), library("b")});
  EXPECT_EQ(entries_.at("a>b").workers[0].samples_ns.size(), 24u);
  EXPECT_EQ(entries_.at("b>b").workers[0].samples_ns.size(), 6u);
}

/// The rounds of each process of a cell.
std::vector<std::size_t> rounds_of(const Entry& entry) {
  std::vector<std::size_t> all;
  for (const WorkerNumbers& worker : entry.workers) all.push_back(worker.samples_ns.size());
  return all;
}

TEST_F(FleetTest, ACellIsRefinedWhereItsProcessesAgree) {
  options_.replicas = 3;
  run({library("a", "noisy")});
  EXPECT_EQ(rounds_of(entries_.at("a>a")), (std::vector<std::size_t>{6, 12, 12}));
}

/// More rounds would hardly narrow the interval of such a cell.
TEST_F(FleetTest, ACellIsNotRefinedWhereItsProcessesDiffer) {
  options_.replicas = 3;
  run({library("a", "noisy;apart@" + file("first"))});
  EXPECT_EQ(rounds_of(entries_.at("a>a")), (std::vector<std::size_t>{6, 6, 6}));
}

TEST_F(FleetTest, AnotherWorkerTakesThePlaceOfADisturbedOne) {
  options_.replicas = 3;
  // Preempted in each round, or slow in most of them, which no counter explains.
  run({library("a", "disturbed@" + file("first")), library("b", "unsteady@" + file("second"))});
  for (const auto& [key, entry] : entries_) {
    ASSERT_EQ(entry.workers.size(), 3u) << key;
    for (const WorkerNumbers& worker : entry.workers) EXPECT_EQ(worker.median_ns, 1000) << key;
  }
  EXPECT_EQ(contents_.workers.size(), 4u);
}

TEST_F(FleetTest, AResumedRunReplacesNoSecondWorkerOfACell) {
  options_.replicas = 3;
  run({library("a", "disturbed@" + file("first"))});
  // As if the run had been killed when the disturbed worker's times were left out.
  const auto written = lines("journal.jsonl");
  std::ofstream journal(file("journal.jsonl"));
  for (const std::string& line : written) {
    journal << line << '\n';
    if (line.find("worker-replaced") != std::string::npos) break;
  }
  journal.close();
  read();
  ASSERT_EQ(entries_.at("a>a").workers.size(), 2u);
  options_.resume = true;
  std::filesystem::remove(file("first"));  // the next worker is disturbed, too
  run({library("a", "disturbed@" + file("first"))});
  EXPECT_EQ(entries_.at("a>a").workers.size(), 3u);
  EXPECT_EQ(entries_.at("a>a").workers.back().median_ns, 10000);
}

/// While another thread uses the core, its rounds are measured again.
TEST_F(FleetTest, RoundsWithASlowCoreAreMeasuredAgain) {
  run({library("a", "briefly@3,4,6")});
  EXPECT_EQ(entries_.at("a>a").workers.front().samples_ns, (std::vector<double>(6, 1000)));
  EXPECT_FALSE(has(entries_.at("a>a").warnings, "slow-cpu"));
}

TEST_F(FleetTest, OtherWorkersTakeThePlaceOfThoseWithASlowCore) {
  options_.replicas = 3;
  run({library("a", "shared@2,3,4=" + file("came"))});
  ASSERT_EQ(entries_.at("a>a").workers.size(), 3u);
  for (const WorkerNumbers& worker : entries_.at("a>a").workers) EXPECT_EQ(worker.median_ns, 1000);
  EXPECT_EQ(contents_.workers.size(), 6u);
}

TEST_F(FleetTest, TheFirstWorkerIsReplacedWhereALaterOneHadMoreOfTheCore) {
  options_.replicas = 2;
  run({library("a", "shared@1=" + file("came"))});
  ASSERT_EQ(entries_.at("a>a").workers.size(), 2u);
  for (const WorkerNumbers& worker : entries_.at("a>a").workers) EXPECT_EQ(worker.median_ns, 1000);
}

/// As many workers as there are replicas, once more.
TEST_F(FleetTest, ACoreThatIsAlwaysSharedEndsTheSearch) {
  options_.replicas = 2;
  run({library("a", "shared@2,3,4,5,6=" + file("came"))});
  EXPECT_EQ(entries_.at("a>a").workers.size(), 2u);
  EXPECT_EQ(contents_.workers.size(), 4u);
  EXPECT_TRUE(has(entries_.at("a>a").warnings, "slow-cpu"));
}

/// What one worker measured in six rounds of this time.
Share share_of(double ns, double canary_ns) {
  Share share;
  share.numbers.samples_ns.assign(6, ns);
  share.numbers.median_ns = ns;
  share.numbers.first_ns = ns;
  share.iterations = 100;
  share.canary_ns.assign(6, canary_ns);
  return share;
}

Entry zero_copy() {
  Entry verdict;
  verdict.outcome = Outcome::zero_copy;
  return verdict;
}

/// The warning says that times are left out, so not if the run ended before others took their
/// place.
TEST_F(FleetTest, SlowTimesThatAreUsedHaveNoWarningOfReplacement) {
  plan_ = plan::make({library("a")}, axes_);
  for (const bool is_replaced : {false, true}) {
    const std::filesystem::path path = folder_ / "journal.jsonl";
    std::filesystem::remove(path);
    results::Journal journal = results::Journal::create(path, {});
    Ledger ledger(plan_, {}, 1, journal, watcher_);
    ledger.core_speed().add_slow(100);
    ledger.measured(0, zero_copy(), share_of(1000, 180));
    EXPECT_TRUE(ledger.needs(0));
    if (is_replaced) {
      ledger.measured(0, zero_copy(), share_of(1000, 100));
    } else {
      ledger.close("budget", "the budget was used up");
    }
    read();
    const Warnings& warnings = entries_.at("a>a").warnings;
    EXPECT_EQ(has(warnings, "worker-replaced"), is_replaced);
    EXPECT_EQ(has(warnings, "slow-cpu"), !is_replaced);
  }
}

/// The first line has a worker whose times are left out later, and used after all.
TEST_F(FleetTest, AJournalKeepsAWorkerThatWasLeftOutForAWhile) {
  plan_ = plan::make({library("a")}, axes_);
  results::Journal journal = results::Journal::create(folder_ / "journal.jsonl", {});
  Ledger ledger(plan_, {}, 3, journal, watcher_);
  for (const double ns : {1000.0, 1001.0, 1002.0}) {
    // The first worker is seen to be slow when the last one has the whole core.
    if (ns == 1002) ledger.core_speed().add_slow(100);
    ledger.measured(0, zero_copy(), share_of(ns, ns == 1000 ? 180 : 100));
  }
  ledger.close("budget", "the budget was used up");
  read();
  EXPECT_EQ(entries_.at("a>a").workers.size(), 3u);
  EXPECT_EQ(contents_.dropped_lines, 0u);
}

/// The cells of the phases have its times, and the worker that replaces it measures none.
TEST_F(FleetTest, ThePhasesOfAReplacedWorkerAreKept) {
  plan_ = plan::make({library("a")}, axes_);
  Share share = share_of(1000, 180);
  PhaseTime time;
  time.exchange_ns = 1800;
  share.phases.rounds.assign(6, time);
  results::Journal journal = results::Journal::create(folder_ / "journal.jsonl", {});
  Ledger ledger(plan_, {}, 1, journal, watcher_);
  ledger.core_speed().add_slow(100);
  ledger.measured(0, zero_copy(), share);
  ledger.measured(0, zero_copy(), share_of(1000, 100));
  read();
  ASSERT_TRUE(entries_.at("a>a").breakdown);
  EXPECT_EQ(entries_.at("a>a").breakdown->exchange_ns, 1800);
}

/// Nothing explains why a worker is slow: it may be the library.
TEST_F(FleetTest, ASlowWorkerThatNothingDisturbedIsKept) {
  options_.replicas = 3;
  run({library("a", "apart@" + file("first"))});
  EXPECT_EQ(entries_.at("a>a").workers.size(), 3u);
  EXPECT_EQ(entries_.at("a>a").median_ns, 10000);
  EXPECT_EQ(contents_.workers.size(), 3u);
}

TEST_F(FleetTest, AnExchangeOfSecondsHasFewRounds) {
  options_.replicas = 3;
  run({library("a", "long")});
  EXPECT_EQ(rounds_of(entries_.at("a>a")), (std::vector<std::size_t>{3, 1, 1}));
}

TEST_F(FleetTest, ReplicasAreWorkersOfTheirOwn) {
  options_.replicas = 3;
  set("FAKE_WORKER_LOG", file("log"));
  run({library("a"), library("b")});
  for (const auto& [key, entry] : entries_) EXPECT_EQ(entry.workers.size(), 3u) << key;
  EXPECT_EQ(contents_.workers.size(), 3u);
  EXPECT_EQ(watcher_.names.size(), 4u);
}

TEST_F(FleetTest, WorkersThatDisagreeAreEachToldOf) {
  options_.replicas = 3;
  axes_.producers = {"a"};
  run({library("a", "copies=f32@" + file("first"))});
  const Entry& entry = entries_.at("a>a");
  EXPECT_EQ(entry.outcome, Outcome::copy);
  EXPECT_EQ(
      dlbench::testing::texts_of(entry.warnings),
      (std::vector<std::string>{"judged again", "workers disagree: zero-copy in 2, copy in 1"}));
  ASSERT_EQ(entry.workers.size(), 3u);
  EXPECT_EQ(entry.workers[0].outcome, Outcome::copy);
  EXPECT_EQ(entry.workers[1].outcome, Outcome::zero_copy);
  EXPECT_EQ(entry.workers[2].outcome, Outcome::zero_copy);
}

TEST_F(FleetTest, WorkersThatAgreeKeepNoWordOfTheirOwn) {
  options_.replicas = 2;
  run({library("a")});
  for (const WorkerNumbers& worker : entries_.at("a>a").workers) EXPECT_FALSE(worker.outcome);
}

TEST_F(FleetTest, LargeArraysAreTakenInGroupsAndDropped) {
  axes_.sizes = {64 << 20};
  axes_.producers = {"a"};
  axes_.cases = {"f32", "f64", "i32"};
  set("FAKE_WORKER_LOG", file("log"));
  run({library("a")});
  std::size_t held = 0, most = 0;
  for (const std::string& line : lines("log")) {
    if (line.find("\"prepare\"") != std::string::npos) most = std::max(most, ++held);
    if (line.find("\"drop\"") != std::string::npos) --held;
  }
  EXPECT_EQ(most, 1u);
  EXPECT_EQ(summary_.measured, 3u);
}

TEST_F(FleetTest, WithoutMemoryWorkersComeOneByOneWithFewLibraries) {
  options_.free_memory = 2;  // more than there can be
  options_.most_bytes = 1;
  set("FAKE_WORKER_LOG", file("log"));
  run({library("a"), library("b"), library("c")});
  EXPECT_EQ(summary_.measured, 9u);
  std::vector<int> order;
  for (const std::string& line : lines("log")) {
    const int pid = std::stoi(line);
    if (order.empty() || order.back() != pid) order.push_back(pid);
  }
  EXPECT_EQ(order.size(), 3u);  // two libraries each, one worker after another
}

TEST_F(FleetTest, EachLibraryIsImportedOnceAReplica) {
  options_.replicas = 3;
  set("FAKE_WORKER_LOG", file("log"));
  run({library("a"), library("b"), library("c"), library("d")});
  EXPECT_EQ(summary_.measured, 16u);
  const auto all = lines("log");
  const auto loads = std::count_if(all.begin(), all.end(), [](const std::string& line) {
    return line.find("\"do\":\"load\"") != std::string::npos &&
           line.find("producer") != std::string::npos;
  });
  EXPECT_EQ(loads, 3 * 4);
}

/// Three replicas on two processors: the first worker imports alone, so that its results come
/// early.
TEST_F(FleetTest, TheFirstWorkerIsMeasuredBeforeOthersImport) {
  options_.jobs = 2;
  options_.replicas = 3;
  set("FAKE_WORKER_LOG", file("log"));
  const std::string slow = "load=slow;round=alone";
  run({library("a", slow), library("b", slow), library("c", slow), library("d", slow)});
  EXPECT_EQ(with(Outcome::zero_copy).size(), 16U);
  for (const auto& [key, entry] : entries_) EXPECT_EQ(entry.workers.size(), 3U) << key;

  const auto all = lines("log");
  const auto process_of = [](const std::string& line) { return line.substr(0, line.find(' ')); };
  const auto is_round = [](const std::string& line) {
    return line.find("\"round\"") != std::string::npos;
  };
  const auto first = std::find_if(all.begin(), all.end(), is_round);
  ASSERT_NE(first, all.end());
  std::set<std::string> before;
  for (auto line = all.begin(); line != first; ++line) before.insert(process_of(*line));
  EXPECT_EQ(before, std::set<std::string>{process_of(*first)});

  // It has its coarse rounds only: six of each cell.
  const auto coarse = std::count_if(all.begin(), all.end(), [&](const std::string& line) {
    return is_round(line) && process_of(line) == process_of(*first);
  });
  EXPECT_EQ(coarse, 16 * 6);
}

TEST_F(FleetTest, IsolatedPairsHaveWorkersOfTheirOwn) {
  options_.isolate = true;
  run({library("a"), library("b"), library("c")});
  EXPECT_EQ(summary_.measured, 9u);
  EXPECT_EQ(contents_.workers.size(), 6u);
  for (const auto& worker : contents_.workers) EXPECT_LE(worker.imports.size(), 2u);
}

/// The journal holds each share as soon as it was measured: what was killed goes on from there.
TEST_F(FleetTest, ResumeAddsTheReplicasThatAreMissing) {
  options_.replicas = 6;  // the last ones are not imported yet when the first are measured
  int rounds = 0;
  set("FAKE_WORKER_LOG", file("log"));
  watcher_.on_progress = [&](const std::string&) {
    if (contents_of_journal() >= 4 + 2 && rounds++ == 0) ::raise(SIGTERM);
  };
  run({library("a"), library("b")});
  ASSERT_EQ(summary_.signal, SIGTERM);
  std::size_t before = 0;
  for (const auto& [key, entry] : entries_) before += entry.workers.size();
  EXPECT_GE(before, 4u);
  EXPECT_LT(before, 24u);
  watcher_ = {};
  options_.resume = true;
  run({library("a"), library("b")});
  EXPECT_EQ(summary_.measured, 4u);
  EXPECT_EQ(contents_.dropped_lines, 0u);
  for (const auto& [key, entry] : entries_) EXPECT_EQ(entry.workers.size(), 6u) << key;
  EXPECT_EQ(entries_.at("a>b").floor_ratio, 50);
}

TEST_F(FleetTest, AnErrorIsAnOutcomeOnOneLine) {
  run({library("a", "make=refused"), library("b")});
  EXPECT_EQ(with(Outcome::refused), (Keys{"a>a", "a>b"}));
  EXPECT_EQ(reason("a>b"), "two lines");
  EXPECT_EQ(entries_.at("a>b").exception, "BufferError");
  EXPECT_EQ(with(Outcome::zero_copy), (Keys{"b>a", "b>b"}));
}

/// What one exchange does to a worker is not another one's fault.
TEST_F(FleetTest, WrongValuesBesideOtherPairsAreTriedAlone) {
  run({library("a"), library("b", "good", "judge=wrong@" + file("once"))});
  EXPECT_EQ(with(Outcome::zero_copy).size(), 4u);
  std::size_t reported = 0;
  for (const auto& [key, entry] : entries_) {
    reported += static_cast<std::size_t>(
        std::count_if(entry.warnings.begin(), entry.warnings.end(),
                      [](const Warning& one) { return one.code == "failed-beside-others"; }));
  }
  EXPECT_EQ(reported, 1u);
}

/// The other cells of the pair are measured in shared workers all the same.
TEST_F(FleetTest, WrongValuesThatAreThePairsOwnCostOneMoreWorker) {
  set("FAKE_WORKER_LOG", file("log"));
  options_.jobs = 1;
  options_.replicas = 3;
  axes_.sizes = {4096, 8192};
  run({library("a"), library("b", "good", "judge8192=wrong")});
  EXPECT_EQ(with(Outcome::wrong), (Keys{"a>b:8192", "b>b:8192"}));
  for (const std::string& key : with(Outcome::zero_copy)) {
    EXPECT_EQ(entries_.at(key).workers.size(), 3U) << key;
  }
  std::set<std::string> pids;
  for (const std::string& line : lines("log")) pids.insert(line.substr(0, line.find(' ')));
  EXPECT_EQ(pids.size(), 5U);  // three for all, and one for each pair
}

/// A size that would exceed the time-out as the smaller ones grow gets a worker in which that costs
/// no other pair anything.
TEST_F(FleetTest, WhatSmallerSizesShowToBeSlowGetsAWorkerOfItsOwn) {
  axes_.sizes = {4096, 8192, 4096 << 10};
  run({library("a"), library("b", "good", "call8192=slow")});
  EXPECT_EQ(with(Outcome::zero_copy).size(), 12U);
  std::size_t alone = 0;
  for (const auto& worker : contents_.workers) alone += worker.imports.size() == 1 ? 1 : 0;
  EXPECT_EQ(contents_.workers.size(), 3U);  // for all, for a > b, for b > b
  EXPECT_EQ(alone, 1U);
  for (const auto& [key, entry] : entries_) {
    for (const Warning& warning : entry.warnings) EXPECT_EQ(warning.code, "drift") << key;
  }
}

/// An exchange that fails ever more slowly would time out with nothing new to show.
TEST_F(FleetTest, WhatFailsSlowlyAtSmallerSizesIsNotTried) {
  axes_.sizes = {4096, 8192, 4096 << 10};
  run({library("a"), library("b", "good", "call8192=slow;call=refused")});
  EXPECT_EQ(contents_.workers.size(), 1U);
  EXPECT_EQ(with(Outcome::refused).size(), 4U);
  EXPECT_EQ(with(Outcome::not_run), (Keys{"a>b:4194304", "b>b:4194304"}));
  const auto& spared = entries_.at("a>b:4194304");
  EXPECT_EQ(spared.code, "would-time-out");
  EXPECT_TRUE(
      spared.reason.starts_with("not tried, because the exchange failed with 4096 bytes after "))
      << spared.reason;
}

/// It still fails in time as long as the time does not grow.
TEST_F(FleetTest, WhatFailsAtOnceIsTriedAtEverySize) {
  axes_.sizes = {4096, 8192, 4096 << 10};
  run({library("a"), library("b", "good", "call4096=slow;call=refused")});
  EXPECT_EQ(with(Outcome::refused).size(), 6U);
}

/// The costs of a first call do not grow with the size.
TEST_F(FleetTest, AFirstCallThatIsSlowShowsNothing) {
  axes_.sizes = {4096, 8192, 4096 << 10};
  run({library("a"), library("b", "good", "call4096=slow")});
  EXPECT_EQ(contents_.workers.size(), 1U);
}

TEST_F(FleetTest, AJudgementAfterTheRoundsMayTakeANumberBack) {
  run({library("a"), library("b", "good", "judge=wrong")});
  EXPECT_EQ(with(Outcome::wrong), (Keys{"a>b", "b>b"}));
}

TEST_F(FleetTest, AnImportErrorIsFoundOutOnce) {
  options_.jobs = 1;
  set("FAKE_WORKER_LOG", file("log"));
  run({library("a"), library("b", "load=import-failed", "load=import-failed")});
  EXPECT_EQ(with(Outcome::import_failed), (Keys{"a>b", "b>a", "b>b"}));
  EXPECT_EQ(outcome("a>a"), Outcome::zero_copy);
  std::size_t loads = 0;
  for (const std::string& line : lines("log")) {
    if (line.find("\"library\":\"b\"") != std::string::npos) ++loads;
  }
  EXPECT_EQ(loads, 4u);  // one a role beside a, and one alone
}

TEST_F(FleetTest, ABrokenRoleLeavesTheOther) {
  run({library("a"), library("b", "load=import-failed")});
  EXPECT_EQ(with(Outcome::import_failed), (Keys{"b>a", "b>b"}));
  EXPECT_EQ(outcome("a>b"), Outcome::zero_copy);
}

TEST_F(FleetTest, WithoutADeviceALibraryHasNeitherRole) {
  run({library("a"), library("b", "load=no-device")});
  EXPECT_EQ(with(Outcome::no_device), (Keys{"a>b", "b>a", "b>b"}));
  EXPECT_EQ(outcome("a>a"), Outcome::zero_copy);
}

TEST_F(FleetTest, ABudgetLeavesTheRestNotRun) {
  options_.budget_s = 1e-6;
  run({library("a"), library("b")});
  EXPECT_EQ(with(Outcome::not_run).size(), 4u);
  EXPECT_EQ(entries_.at("a>b").code, "budget");
  EXPECT_EQ(summary_.recorded, 0u);
}

TEST_F(FleetTest, ABudgetThatEndsDuringPreparationHasMeasuredWhatWasPrepared) {
  options_.budget_s = 3;
  axes_.sizes.clear();
  for (std::uint64_t bytes = 1; bytes <= 30; ++bytes) axes_.sizes.push_back(4096 * bytes);
  run({library("a", "make=slow")});
  const std::size_t measured = with(Outcome::zero_copy).size();
  EXPECT_GT(measured, 0u);
  EXPECT_EQ(measured + with(Outcome::not_run).size(), 30u);
  EXPECT_GT(with(Outcome::not_run).size(), 0u);
}

TEST_F(FleetTest, ABudgetBeginsWithTheLibrariesThatAreNamed) {
  options_.budget_s = 600;
  options_.first = {"z", "y"};
  run({library("a"), library("y"), library("z")});
  ASSERT_EQ(watcher_.names.size(), 9u);
  EXPECT_NE(watcher_.names.front().find("producer:z/consumer:z"), std::string::npos);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(watcher_.names[i].find(":a/"), std::string::npos) << watcher_.names[i];
  }
}

TEST_F(FleetTest, ABudgetCountsNeitherImportsNorFloors) {
  options_.budget_s = 1;
  options_.timeout_s = 1.5;
  run({library("a", "floors=slow"), library("b", "load=hang")});
  EXPECT_EQ(with(Outcome::zero_copy), (Keys{"a>a"}));
  EXPECT_EQ(with(Outcome::timed_out), (Keys{"a>b", "b>a", "b>b"}));
  EXPECT_GT(summary_.wall_s, summary_.budget_used_s + options_.timeout_s);
}

TEST_F(FleetTest, AWorkerThatIsKilledDuringAnImportIsStartedOnceMore) {
  run({library("a"), library("b", "load=kill@" + file("once"))});
  EXPECT_EQ(with(Outcome::zero_copy).size(), 4u);
}

TEST_F(FleetTest, AnImportThatIsKilledTwiceHasCrashed) {
  run({library("a"), library("b", "load=kill")});
  EXPECT_EQ(with(Outcome::crashed), (Keys{"a>b", "b>a", "b>b"}));
  EXPECT_EQ(entries_.at("b>b").signal, "SIGKILL");
}

TEST_F(FleetTest, ABudgetOfPlentyChangesNothing) {
  options_.budget_s = 600;
  run({library("a", "noisy")});
  EXPECT_EQ(entries_.at("a>a").workers[0].samples_ns.size(), 24u);
}

TEST_F(FleetTest, ResumeMeasuresOnlyWhatIsLeft) {
  int count = 0;
  watcher_.on_recorded = [&] {
    if (++count == 2) ::raise(SIGTERM);
  };
  run({library("a"), library("b"), library("c")});
  EXPECT_EQ(summary_.signal, SIGTERM);
  const Keys before = with(Outcome::zero_copy);
  const std::size_t open = with(Outcome::not_run).size();
  EXPECT_EQ(before.size() + open, 9u);
  watcher_ = {};
  options_.resume = true;
  run({library("a"), library("b"), library("c")});
  EXPECT_EQ(with(Outcome::zero_copy).size(), 9u);
  EXPECT_EQ(watcher_.names.size(), open);
  EXPECT_EQ(summary_.recorded, 9u);
  EXPECT_EQ(summary_.measured, 9u);
  EXPECT_EQ(contents_.ends.size(), 2u);
}

TEST_F(FleetTest, InterruptedWhileImportingLeavesAllOpen) {
  watcher_.on_progress = [](const std::string& doing) {
    if (doing.starts_with("importing")) ::raise(SIGINT);
  };
  run({library("a", "load=hang"), library("b", "load=hang")});
  EXPECT_EQ(summary_.signal, SIGINT);
  EXPECT_EQ(with(Outcome::not_run).size(), 4u);
  EXPECT_EQ(entries_.at("a>a").code, "interrupted");
  EXPECT_EQ(contents_.ends.at(0).signal, SIGINT);
}

TEST_F(FleetTest, InterruptedWhileSettlingKeepsWhatWasMeasured) {
  set("FAKE_WORKER_LOG", file("log"));
  watcher_.on_progress = [this](const std::string&) {
    const auto all = lines("log");
    if (!all.empty() && all.back().find("\"judge\",\"id\":2") != std::string::npos) {
      ::raise(SIGINT);
    }
  };
  axes_.sizes = {4096, 8192};
  run({library("a", "good", "judge8192=hang")});
  EXPECT_EQ(summary_.signal, SIGINT);
  EXPECT_EQ(with(Outcome::zero_copy), (Keys{"a>a", "a>a:8192"}));
}

TEST_F(FleetTest, AnObserverThatThrowsEndsTheRun) {
  watcher_.on_recorded = [] { throw std::runtime_error("enough"); };
  EXPECT_THROW(run({library("a")}), std::runtime_error);
}

TEST_F(FleetTest, BadOptionsAreNamed) {
  options_.jobs = 0;
  EXPECT_THROW(run({library("a")}), UsageError);
  options_.jobs = 2;
  options_.context = "[]";
  EXPECT_THROW(run({library("a")}), UsageError);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "journal.jsonl"));
}

TEST_F(FleetTest, AFullDiskEndsTheRunAndKeepsTheJournal) {
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = before;
  small.rlim_cur = 4000;
  ::setrlimit(RLIMIT_FSIZE, &small);
  plan_ = plan::make({library("a"), library("b"), library("c")}, axes_);
  summary_ = supervisor::run(plan_, options_, watcher_);
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_NE(summary_.disk_full, "");
  read();
  EXPECT_GE(entries_.size(), 1u);
  EXPECT_LT(entries_.size(), 9u);
  options_.resume = true;
  run({library("a"), library("b"), library("c")});
  EXPECT_EQ(with(Outcome::zero_copy).size(), 9u);
}

TEST_F(FleetTest, CellsAreCoveredOnceBeforeTheLastReplica) {
  options_.replicas = 3;
  run({library("a"), library("b", "call=refused")});
  ASSERT_EQ(watcher_.names_when_covered.size(), 1U);
  EXPECT_EQ(watcher_.names_when_covered.front(), with(Outcome::refused).size());
}

TEST_F(FleetTest, WithOneReplicaNothingIsCoveredBeforeTheEnd) {
  run({library("a"), library("b")});
  EXPECT_TRUE(watcher_.names_when_covered.empty());
}

}  // namespace
}  // namespace dlbench::supervisor
