#include "supervisor/process/death.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "core/model/warnings.hpp"
#include "fixture.hpp"
#include "supervisor/process/grandchildren.hpp"

namespace dlbench::supervisor {
namespace {

using Keys = std::set<std::string>;

class DeathTest : public FleetTest {
 protected:
  /// Is it gone, or about to be reaped by another process?
  static bool is_running(pid_t pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    if (!std::getline(stat, text)) return false;
    const char state = text.at(text.rfind(')') + 2);
    return state != 'Z' && state != 'X';
  }

  void expect_none_left() const {
    const auto pids = lines("pids");
    EXPECT_FALSE(pids.empty());
    for (const std::string& pid : pids) EXPECT_FALSE(is_running(std::stoi(pid))) << pid;
  }

  void TearDown() override {
    // Nothing of a run is a child of ours any more, dead or alive.
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  }
};

TEST_F(DeathTest, InImport) {
  run({library("a"), library("b", "load=segv"), library("c")});
  EXPECT_EQ(with(Outcome::crashed), (Keys{"a>b", "b>a", "b>b", "b>c", "c>b"}));
  EXPECT_EQ(with(Outcome::zero_copy), (Keys{"a>a", "a>c", "c>a", "c>c"}));
  EXPECT_EQ(reason("b>b"), "crashed while importing b (producer): SIGSEGV");
  EXPECT_EQ(reason("a>b"), reason("b>b"));
  EXPECT_EQ(entries_.at("b>a").signal, "SIGSEGV");
  EXPECT_EQ(entries_.at("b>b").stderr_tail, "about to segv");
}

TEST_F(DeathTest, InImportWithoutAPairOfItsOwn) {
  axes_.producers = {"a", "b"};
  axes_.consumers = {"a"};
  plan::Library b = library("b", "load=abort");
  axes_.filter = "consumer:a";
  run({library("a"), b});
  EXPECT_EQ(outcome("b>a"), Outcome::crashed);
  EXPECT_EQ(entries_.at("b>a").signal, "SIGABRT");
  EXPECT_EQ(outcome("a>a"), Outcome::zero_copy);
}

TEST_F(DeathTest, InMakeIsThatProducersFault) {
  set("FAKE_WORKER_LOG", file("log"));
  run({library("a", "make=segv"), library("b")});
  EXPECT_EQ(with(Outcome::crashed), (Keys{"a>a", "a>b"}));
  EXPECT_EQ(with(Outcome::zero_copy), (Keys{"b>a", "b>b"}));
  EXPECT_EQ(reason("a>b"), "crashed while a made an array: SIGSEGV");
  std::size_t makes = 0;
  for (const std::string& line : lines("log")) {
    if (line.find("\"prepare\"") != std::string::npos &&
        line.find("\"producer\":\"a\"") != std::string::npos) {
      ++makes;
    }
  }
  EXPECT_LE(makes, 3u);  // beside others, once for each pair; then alone, which the other inherits
}

TEST_F(DeathTest, InTheCall) {
  run({library("a"), library("b", "good", "call=abort")});
  EXPECT_EQ(with(Outcome::crashed), (Keys{"a>b", "b>b"}));
  EXPECT_EQ(reason("a>b"), "crashed while b imported a's array: SIGABRT");
}

TEST_F(DeathTest, InTheTimedLoopTakesBothClocks) {
  plan::Library b = library("b", "good", "round=segv");
  b.has_ready = true;
  run({library("a"), b});
  EXPECT_EQ(with(Outcome::crashed), (Keys{"a>b", "a>b/ready", "b>b", "b>b/ready"}));
  EXPECT_EQ(with(Outcome::zero_copy), (Keys{"a>a", "b>a"}));
  EXPECT_EQ(reason("a>b/ready"), "crashed while running the timed loop: SIGSEGV");
}

TEST_F(DeathTest, ExitWithStatusZeroIsNoSuccess) {
  run({library("a"), library("b", "good", "round=exit")});
  EXPECT_EQ(with(Outcome::crashed), (Keys{"a>b", "b>b"}));
  EXPECT_EQ(reason("a>b"), "crashed while running the timed loop: it ended with status 0");
  EXPECT_EQ(entries_.at("a>b").signal, "");
}

TEST_F(DeathTest, AJudgesDeathIsThatExchangesOwn) {
  run({library("a"), library("b", "good", "judge=segv")});
  EXPECT_EQ(with(Outcome::crashed), (Keys{"a>b", "b>b"}));
  EXPECT_EQ(outcome("b>a"), Outcome::zero_copy);
}

TEST_F(DeathTest, HangingInTheLoopIsTimedOut) {
  options_.timeout_s = kShort;
  axes_.filter = "consumer:b";
  run({library("a"), library("b", "good", "round=hang")});
  EXPECT_EQ(with(Outcome::timed_out), (Keys{"a>b", "b>b"}));
  EXPECT_EQ(reason("a>b"), "no answer within 4 s (--timeout) while running the timed loop");
}

TEST_F(DeathTest, HangingInImportIsFoundOutOnce) {
  options_.timeout_s = kShort;
  set("FAKE_WORKER_LOG", file("log"));
  run({library("a"), library("b", "load=hang"), library("c")});
  EXPECT_EQ(with(Outcome::timed_out), (Keys{"a>b", "b>a", "b>b", "b>c", "c>b"}));
  EXPECT_EQ(with(Outcome::zero_copy).size(), 4u);
}

TEST_F(DeathTest, ATimeOutSparesTheLargerSizes) {
  options_.timeout_s = kShort;
  axes_.sizes = {4096, 8192, 16384};
  axes_.consumers = {"b"};
  run({library("b", "good", "call8192=hang")});
  EXPECT_EQ(outcome("b>b"), Outcome::zero_copy);
  EXPECT_EQ(reason("b>b:8192"), "no answer within 4 s (--timeout) while b imported b's array");
  EXPECT_EQ(outcome("b>b:16384"), Outcome::timed_out);
  EXPECT_EQ(reason("b>b:16384"), "not tried, because 8192 bytes timed out");
}

TEST_F(DeathTest, UnderGuardCostsOnlyTheGuard) {
  run({library("a", "good", "guard=segv"), library("b")});
  EXPECT_EQ(with(Outcome::zero_copy).size(), 4u);
  const auto warned = [this](const char* cell) {
    const auto& warnings = entries_.at(cell).warnings;
    return std::count_if(warnings.begin(), warnings.end(), [](const Warning& one) {
             return one.code == "no-guard" && one.data == Warning::Data{{"signal", "SIGSEGV"}};
           }) == 1;
  };
  EXPECT_TRUE(warned("a>a"));
  EXPECT_TRUE(warned("b>a"));
  EXPECT_FALSE(warned("b>b"));
}

/// It shows nothing about the time that an exchange takes.
TEST_F(DeathTest, AGuardThatHangsEndsNoLargerSize) {
  options_.timeout_s = kShort;
  axes_.sizes = {4096, 8192};
  run({library("a", "good", "guard=hang")});
  EXPECT_EQ(with(Outcome::zero_copy), (Keys{"a>a", "a>a:8192"}));
}

/// The next worker does not read it, and loses nothing.
TEST_F(DeathTest, WhileItReportsADevicesMemory) {
  options_.timeout_s = kShort;
  axes_.devices = {"cuda:0"};
  axes_.consumers = {"c"};
  std::vector<plan::Library> libraries{library("a", "memory=segv"), library("b", "memory=hang"),
                                       library("c")};
  for (plan::Library& each : libraries) each.devices = {"cuda:0"};
  run(libraries);
  EXPECT_EQ(with(Outcome::zero_copy).size(), entries_.size());
  for (const auto& [key, entry] : entries_) {
    EXPECT_EQ(dlbench::testing::texts_of(entry.warnings), std::vector<std::string>{"judged again"})
        << key;
  }
}

/// Which libraries cannot share a process is found by bisection; all others stay together.
TEST_F(DeathTest, BesideOneOtherLibraryOnly) {
  run({library("a"), library("b"), library("c"), library("d"), library("e", "after-b=segv")});
  EXPECT_EQ(with(Outcome::crashed), Keys{});
  EXPECT_EQ(with(Outcome::zero_copy).size(), 25u);
  const Entry& pair = entries_.at("b>e");
  EXPECT_EQ(pair.imports, (std::vector<std::string>{"e", "b"}));
  const auto order = std::find_if(pair.warnings.begin(), pair.warnings.end(),
                                  [](const Warning& one) { return one.code == "import-order"; });
  ASSERT_NE(order, pair.warnings.end());
  EXPECT_EQ(order->data, (Warning::Data{{"library", "e"}, {"first", "b"}, {"outcome", "crashed"}}));
  EXPECT_EQ(order->text,
            "e cannot be imported after b: crashed while importing e (producer) after b: SIGSEGV");
  ASSERT_EQ(contents_.workers.size(), 1u);
  EXPECT_EQ(contents_.workers.front().imports, (std::vector<std::string>{"a", "c", "d", "e", "b"}));
}

/// Three workers that import at the same time meet the same crash.
TEST_F(DeathTest, BesideOneOtherLibraryInEachOfThreeWorkers) {
  options_.jobs = 2;
  options_.replicas = 3;
  run({library("a"), library("b", "after-a=segv")});
  EXPECT_EQ(with(Outcome::zero_copy).size(), 4U);
  for (const auto& [key, entry] : entries_) EXPECT_EQ(entry.workers.size(), 3U) << key;
  EXPECT_EQ(summary_.orders.size(), 1U);
}

TEST_F(DeathTest, AKnownOrderIsNotSearchedAgain) {
  run({library("a"), library("b"), library("c"), library("d"), library("e", "after-b=segv")});
  ASSERT_EQ(summary_.orders.size(), 1U);
  const ImportOrder found = summary_.orders.front();
  EXPECT_EQ(found.library + " after " + found.before, "e after b");
  EXPECT_EQ(found.outcome, Outcome::crashed);

  set("FAKE_WORKER_LOG", file("log"));
  options_.out = folder_ / "again";
  options_.orders = {found};
  std::filesystem::create_directory(options_.out);
  plan_ = plan::make(
      {library("a"), library("b"), library("c"), library("d"), library("e", "after-b=segv")},
      axes_);
  summary_ = supervisor::run(plan_, options_, watcher_);
  EXPECT_TRUE(summary_.orders.empty());
  std::set<std::string> pids;
  for (const std::string& line : lines("log")) pids.insert(line.substr(0, line.find(' ')));
  EXPECT_EQ(pids.size(), 1U);  // one worker for all
  const results::JournalContents again = results::read_journal(options_.out / "journal.jsonl");
  for (const Entry& entry : again.entries) EXPECT_EQ(entry.outcome, Outcome::zero_copy);
}

/// What an earlier run found need not hold any more.
TEST_F(DeathTest, AKnownOrderGivesWayToTheReverseOne) {
  options_.orders = {{"default", "b", "a", Outcome::crashed, "seen once"}};
  run({library("a", "after-b=segv", "after-b=segv"), library("b"), library("c")});
  EXPECT_EQ(with(Outcome::zero_copy).size(), 9U);
  ASSERT_EQ(summary_.orders.size(), 1U);
  EXPECT_EQ(summary_.orders.front().library + " after " + summary_.orders.front().before,
            "a after b");
}

TEST_F(DeathTest, InBothOrdersCostsTheirPairOnly) {
  run({library("a"), library("b", "after-e=abort"), library("c"), library("d"),
       library("e", "after-b=segv")});
  EXPECT_EQ(with(Outcome::crashed), (Keys{"b>e", "e>b"}));
  EXPECT_EQ(with(Outcome::zero_copy).size(), 23u);
  EXPECT_EQ(reason("b>e"), "crashed while importing e (producer) after b: SIGSEGV");
  EXPECT_EQ(entries_.at("e>b").imports, (std::vector<std::string>{"b", "e"}));
}

TEST_F(DeathTest, BesideSeveralLibrariesOnlyIsolatesIt) {
  run({library("a"), library("b"), library("c"), library("d", "after-a+c=segv")});
  EXPECT_EQ(with(Outcome::zero_copy).size(), 16u);
  EXPECT_EQ(contents_.workers.size(), 5u);
}

/// Its pairs are groups of their own already: another group cannot be the answer.
TEST_F(DeathTest, BesideAnIsolatedLibraryTheOrderIsFound) {
  run({library("a"), library("b"), library("c", "after-a+b=segv"), library("d", "after-c=segv")});
  EXPECT_EQ(with(Outcome::zero_copy).size(), 16u);
}

TEST_F(DeathTest, AnImportErrorBesideOneLibraryOnly) {
  run({library("a"), library("b"), library("c", "after-a=import-failed")});
  EXPECT_EQ(with(Outcome::zero_copy).size(), 9u);
}

/// One death moves a pair out, two deaths of a library all of its pairs: the others are imported
/// together no more than so often.
TEST_F(DeathTest, EachDeathCostsItsExchangeOnly) {
  options_.replicas = 2;
  axes_.sizes = {4096, 8192};
  std::vector<plan::Library> libraries{library("bad", "good", "call8192=segv")};
  for (const char* name : {"a", "b", "c", "d", "e"}) libraries.push_back(library(name));
  run(libraries);
  EXPECT_EQ(with(Outcome::crashed), (Keys{"a>bad:8192", "b>bad:8192", "bad>bad:8192", "c>bad:8192",
                                          "d>bad:8192", "e>bad:8192"}));
  for (const auto& [key, entry] : entries_) {
    const std::size_t workers = entry.outcome == Outcome::zero_copy ? 2 : 0;
    EXPECT_EQ(entry.workers.size(), workers) << key;
  }
  const auto large = std::count_if(contents_.workers.begin(), contents_.workers.end(),
                                   [](const auto& worker) { return worker.imports.size() > 2; });
  EXPECT_LE(large, 2 + 3);
  // It fails alone too, so that the second replica is one worker again.
  const auto all = std::count_if(contents_.workers.begin(), contents_.workers.end(),
                                 [](const auto& worker) { return worker.imports.size() == 6; });
  EXPECT_EQ(all, 2 + 1);
}

/// What works alone keeps workers of its own in each replica.
TEST_F(DeathTest, AnExchangeThatDiesBesideOthersOnlyStaysAlone) {
  options_.replicas = 2;
  run({library("a"), library("b", "good", "call=segv@" + file("once"))});
  EXPECT_EQ(with(Outcome::zero_copy).size(), 4u);
  // The one that died, and in each replica one for the pair and one for the others.
  EXPECT_EQ(contents_.workers.size(), 1u + 2u + 2u);
}

/// What was measured beside an exchange that ends the worker is measured again.
TEST_F(DeathTest, ABatchWithADeathIsMeasuredAnew) {
  set("FAKE_WORKER_LOG", file("log"));
  axes_.producers = {"b"};
  run({library("a"), library("b", "good", "judge=segv@" + file("once"))});
  EXPECT_EQ(with(Outcome::zero_copy), (Keys{"b>a", "b>b"}));
  std::set<int> workers;
  for (const std::string& line : lines("log")) {
    const bool prepares = line.find("\"do\":\"prepare\"") != std::string::npos;
    if (prepares && line.find("\"consumer\":\"a\"") != std::string::npos) {
      workers.insert(std::stoi(line));
    }
  }
  EXPECT_EQ(workers.size(), 2u);
}

/// The pair with the wrong values is left to its own worker, so no shared worker imports for it.
TEST_F(DeathTest, AfterWrongValuesADeathCostsNoFurtherImport) {
  set("FAKE_WORKER_LOG", file("log"));
  axes_.filter = "producer:a/consumer:a/|producer:b/consumer:b/|producer:c/consumer:c/";
  run({library("a", "good", "judge=wrong@" + file("wrong")), library("b"),
       library("c", "good", "judge=segv@" + file("segv"))});
  EXPECT_EQ(with(Outcome::zero_copy), (Keys{"a>a", "b>b", "c>c"}));
  std::set<int> workers;
  for (const std::string& line : lines("log")) workers.insert(std::stoi(line));
  EXPECT_EQ(workers.size(), 3U);  // for all, for the wrong values, for the death
}

TEST_F(DeathTest, AHundredMegabytesOnStderr) {
  run({library("a", "make=stderr"), library("b", "good", "round=stderr")});
  EXPECT_EQ(with(Outcome::zero_copy).size(), 4u);
}

TEST_F(DeathTest, StderrIsKeptWithTheCrash) {
  run({library("a"), library("b", "good", "call=stderr;call=segv")});
  const std::string& tail = entries_.at("a>b").stderr_tail;
  EXPECT_LE(tail.size(), 4096u);
  EXPECT_EQ(tail.substr(tail.rfind('x') + 1), "about to segv");
}

TEST_F(DeathTest, GrandchildrenAreEnded) {
  set("FAKE_WORKER_PIDS", file("pids"));
  run({library("a", "make=grandchild"), library("b", "make=setsid"), library("c", "make=orphan")});
  EXPECT_EQ(with(Outcome::zero_copy).size(), 9u);
  expect_none_left();
}

TEST_F(DeathTest, GrandchildrenOfACrashedWorkerAreEnded) {
  set("FAKE_WORKER_PIDS", file("pids"));
  run({library("a", "make=setsid", "call=segv")});
  EXPECT_EQ(outcome("a>a"), Outcome::crashed);
  expect_none_left();
}

TEST_F(DeathTest, ChildrenOfOursFromBeforeLive) {
  const pid_t mine = ::fork();
  if (mine == 0) {
    while (true) ::pause();
  }
  run({library("a", "good", "call=segv")});
  EXPECT_TRUE(is_running(mine));
  // The child is younger than an outer scope.
  const Grandchildren outer(Grandchildren::Kill::marked);
  std::filesystem::remove(folder_ / "journal.jsonl");
  run({library("a", "good", "call=segv")});
  EXPECT_TRUE(is_running(mine));
  ::kill(mine, SIGKILL);
  ::waitpid(mine, nullptr, 0);
}

TEST_F(DeathTest, GarbageOnTheWire) {
  for (const std::string what : {"garbage", "flood", "close", "nonsense", "nan"}) {
    std::filesystem::remove(folder_ / "journal.jsonl");
    run({library("a"), library("b", "good", "round=" + what)});
    EXPECT_EQ(with(Outcome::crashed), (Keys{"a>b", "b>b"})) << what;
    EXPECT_EQ(with(Outcome::zero_copy), (Keys{"a>a", "b>a"})) << what;
  }
}

TEST_F(DeathTest, LostBetweenRequestsIsTriedOnceMore) {
  set("FAKE_WORKER_LOG", file("log"));
  axes_.filter = "producer:a/consumer:a/|producer:b/consumer:b/";
  // While the first refuses, all others sleep: kill them there, and wait until they are gone.
  bool done = false;
  watcher_.on_recorded = [this, &done] {
    if (std::exchange(done, true)) return;
    std::set<pid_t> others;
    for (const std::string& line : lines("log")) {
      if (line.find("\"library\":\"b\"") != std::string::npos) others.insert(std::stoi(line));
    }
    for (const pid_t pid : others) {
      ::kill(pid, SIGKILL);
      siginfo_t info{};
      ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT);
    }
  };
  run({library("a", "make=refused"), library("b")});
  EXPECT_EQ(outcome("a>a"), Outcome::refused);
  EXPECT_EQ(outcome("b>b"), Outcome::zero_copy);
  const auto warnings = dlbench::testing::texts_of(entries_.at("b>b").warnings);
  EXPECT_EQ(std::count(warnings.begin(), warnings.end(), "a worker ended unexpectedly: SIGKILL"),
            1);
}

TEST_F(DeathTest, LostTwiceIsACrash) {
  run({library("a", "good", "round=late")});
  EXPECT_EQ(outcome("a>a"), Outcome::crashed);
  EXPECT_EQ(entries_.at("a>a").signal, "SIGKILL");
}

/// In a worker of several pairs another exchange may be the cause: it is tried alone, and works.
TEST_F(DeathTest, KilledAtWorkByHand) {
  run({library("a", "good", "round=kill@" + file("once")), library("b")});
  EXPECT_EQ(with(Outcome::zero_copy).size(), 4u);
  const auto is_reported = [](const Warning& one) {
    return one.code == "failed-beside-others" && one.data == Warning::Data{{"signal", "SIGKILL"}};
  };
  std::size_t reported = 0;
  for (const auto& [key, entry] : entries_) {
    reported += static_cast<std::size_t>(
        std::count_if(entry.warnings.begin(), entry.warnings.end(), is_reported));
  }
  EXPECT_EQ(reported, 1u);
}

TEST_F(DeathTest, KilledAtWorkByHandAlone) {
  run({library("a", "good", "round=kill@" + file("once"))});
  EXPECT_EQ(with(Outcome::crashed), Keys{"a>a"});
  EXPECT_EQ(entries_.at("a>a").signal, "SIGKILL");
}

TEST_F(DeathTest, AStartThatFailsOnceCostsNothing) {
  set("FAKE_WORKER_START", "die@" + file("once"));
  run({library("a"), library("b")});
  EXPECT_EQ(with(Outcome::zero_copy).size(), 4u);
}

/// The broken role and the library that it cannot be imported after are two findings.
TEST_F(DeathTest, ABrokenRoleAndAConflictAreToldApart) {
  run({library("x"), library("s", "load=import-failed", "after-x=segv")});
  EXPECT_EQ(with(Outcome::import_failed), (Keys{"s>s", "s>x"}));
  EXPECT_EQ(with(Outcome::zero_copy), (Keys{"x>s", "x>x"}));
}

TEST_F(DeathTest, ABrokenLibraryIsNotTheCauseOfAConflict) {
  run({library("x", "load=import-failed"), library("y"), library("s", "good", "after-y=segv")});
  EXPECT_EQ(with(Outcome::import_failed), (Keys{"x>x", "x>y", "x>s"}));
  EXPECT_EQ(with(Outcome::zero_copy).size(), 6u);
}

TEST_F(DeathTest, AnImportThatFailsOnceBesideOthersIsTriedAgain) {
  run({library("a"), library("b"), library("c", "after-a=abort@" + file("once"))});
  EXPECT_EQ(with(Outcome::zero_copy).size(), 9u);
}

TEST_F(DeathTest, OrdersThatContradictOneAnotherEnd) {
  run({library("a", "after-c=segv"), library("b", "after-a=segv"), library("c", "after-b=segv")});
  EXPECT_EQ(with(Outcome::zero_copy).size(), 9u);
}

TEST_F(DeathTest, DroppingAnExchangeCostsItsPairAWorker) {
  run({library("a"), library("b", "good", "drop=segv"), library("c")});
  EXPECT_EQ(with(Outcome::zero_copy).size(), 9u);
  const auto large = std::count_if(contents_.workers.begin(), contents_.workers.end(),
                                   [](const auto& worker) { return worker.imports.size() > 2; });
  EXPECT_LE(large, 4);
}

TEST_F(DeathTest, TwoWorkersThatDoNotFitAreImportedOneByOne) {
  options_.jobs = 2;
  options_.replicas = 2;
  options_.free_memory = 0;
  options_.most_bytes = 1;
  set("FAKE_WORKER_LOG", file("log"));
  run({library("a"), library("b"), library("c")});
  EXPECT_EQ(summary_.measured, 9u);
  std::set<int> started;
  for (const std::string& line : lines("log")) started.insert(std::stoi(line));
  EXPECT_LE(started.size(), 9u);  // two at once, then three groups of two libraries, twice
  for (const auto& [key, entry] : entries_) EXPECT_EQ(entry.workers.size(), 2u) << key;
}

TEST_F(DeathTest, AWorkerThatDoesNotStart) {
  set("FAKE_WORKER_START", "die");
  run({library("a")});
  EXPECT_EQ(outcome("a>a"), Outcome::crashed);
  EXPECT_EQ(reason("a>a"), "the worker did not start: it ended with status 3");
  EXPECT_EQ(entries_.at("a>a").stderr_tail, "no such module");
}

TEST_F(DeathTest, AnInterpreterThatIsNotThere) {
  options_.pythons = {{"default", "/nowhere/python"}};
  run({library("a")});
  EXPECT_EQ(outcome("a>a"), Outcome::crashed);
  EXPECT_NE(reason("a>a").find("/nowhere/python"), std::string::npos);
}

TEST_F(DeathTest, AWorkerOfAnotherBuild) {
  options_.build_id = "fake";
  run({library("a")});
  EXPECT_EQ(outcome("a>a"), Outcome::zero_copy);
  std::filesystem::remove(folder_ / "journal.jsonl");
  set("FAKE_WORKER_BUILD", "other");
  run({library("a")});
  EXPECT_EQ(outcome("a>a"), Outcome::crashed);
  EXPECT_NE(reason("a>a").find("build other, expected build fake"), std::string::npos);
}

TEST_F(DeathTest, TheReferencesDeathCostsNoCell) {
  run({library("a"), library("native", "make=segv")});
  EXPECT_EQ(outcome("a>a"), Outcome::zero_copy);
  EXPECT_EQ(outcome("a>native"), Outcome::zero_copy);
  EXPECT_EQ(with(Outcome::crashed), (Keys{"native>a", "native>native"}));
}

TEST(Death, SignalsHaveNames) {
  EXPECT_EQ(signal_name(SIGSEGV), "SIGSEGV");
  EXPECT_EQ(signal_name(200), "signal 200");
}

TEST(Death, PresentableIsValidAndShort) {
  EXPECT_EQ(presentable("ab\xff"), "ab\xEF\xBF\xBD");
  EXPECT_EQ(presentable("\xC3\xA4\xC3\xA4", 3), "\xC3\xA4");
}

}  // namespace
}  // namespace dlbench::supervisor
