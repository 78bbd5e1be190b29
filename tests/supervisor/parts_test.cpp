#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <limits>
#include <utility>
#include <vector>

#include "core/model/warnings.hpp"
#include "random.hpp"
#include "results/file.hpp"
#include "supervisor/ledger/failed_steps.hpp"
#include "supervisor/process/channel.hpp"
#include "supervisor/process/memory.hpp"
#include "supervisor/process/tail.hpp"
#include "supervisor/progress.hpp"
#include "supervisor/rounds/numbers.hpp"
#include "supervisor/rounds/pace.hpp"
#include "supervisor/wire.hpp"

namespace dlbench::supervisor {
namespace {

TEST(Tail, KeepsTheEnd) {
  Tail tail(4);
  tail.append("ab");
  tail.append("cdefgh");
  EXPECT_EQ(tail.text(), "efgh");
  tail.append("ij");
  EXPECT_EQ(tail.text(), "ghij");
  for (int i = 0; i < 1000; ++i) tail.append("x");
  EXPECT_EQ(tail.text(), "xxxx");
}

TEST(Tail, LastLines) {
  Tail tail;
  tail.append("one\ntwo\nthree\n\n");
  EXPECT_EQ(tail.last_lines(2), "two\nthree");
  EXPECT_EQ(tail.last_lines(9), "one\ntwo\nthree");
  EXPECT_EQ(Tail().last_lines(3), "");
}

class Counts : public Observer {
 public:
  void progress(std::size_t done, std::size_t total, const std::string&) override {
    observed.emplace_back(done, total);
  }
  void recorded(const Entry&) override {}
  void covered() override {}
  std::vector<std::pair<std::size_t, std::size_t>> observed;
};

TEST(Progress, TheNumberNeverDecreases) {
  Counts counts;
  std::size_t recorded = 0;
  Progress progress(counts, 9, [&recorded] { return recorded; });
  progress.report();
  recorded = 1;
  progress.pending(3);
  progress.report();
  progress.forget(3);  // their worker died
  progress.report();
  recorded = 5;
  progress.pending(99);
  progress.report();
  std::vector<std::size_t> done;
  for (const auto& [number, total] : counts.observed) {
    EXPECT_EQ(total, 9u);
    done.push_back(number);
  }
  done.erase(std::unique(done.begin(), done.end()), done.end());
  EXPECT_EQ(done, (std::vector<std::size_t>{0, 4, 9}));
}

class ChannelTest : public ::testing::Test {
 protected:
  ChannelTest() {
    std::array<int, 2> fds{};
    ::socketpair(AF_UNIX, SOCK_STREAM, 0, fds.data());
    ours_ = results::File(fds[0]);
    theirs_ = results::File(fds[1]);
  }
  void comes(std::string_view text) {
    ASSERT_EQ(::send(theirs_.get(), text.data(), text.size(), 0),
              static_cast<ssize_t>(text.size()));
  }
  results::File ours_, theirs_;
};

TEST_F(ChannelTest, LinesArriveInPieces) {
  Channel channel(ours_.get());
  comes("{\"ok\":");
  EXPECT_TRUE(channel.fill());
  EXPECT_FALSE(channel.next());
  comes("1}\n{\"step\":\"make\"}\n");
  EXPECT_TRUE(channel.fill());
  EXPECT_EQ((*channel.next())["ok"], 1);
  EXPECT_EQ((*channel.next())["step"], "make");
  EXPECT_FALSE(channel.next());
}

TEST_F(ChannelTest, TheEndIsTold) {
  Channel channel(ours_.get());
  EXPECT_TRUE(channel.fill());  // nothing there, but open
  theirs_.close();
  EXPECT_FALSE(channel.fill());
  EXPECT_FALSE(channel.send({{"do", "end"}}));
}

TEST_F(ChannelTest, WhatIsNoObjectIsGarbage) {
  for (const char* text : {"hello\n", "[1]\n", "\n", "{\"ok\":1e999}\n", "{\"ok\":\"\xff\"}\n"}) {
    Channel channel(ours_.get());
    comes(text);
    channel.fill();
    EXPECT_THROW(channel.next(), ProtocolError) << text;
  }
}

Share share_of(std::vector<double> samples) {
  Share share;
  share.numbers.samples_ns = samples;
  share.numbers.median_ns = samples[samples.size() / 2];
  share.iterations = 10;
  share.cpu_ns = 90;
  share.floor_ns = 20;
  share.data_ns = 4096;
  return share;
}

TEST(Numbers, ACopyHasARateToItsData) {
  Entry entry;
  entry.cell.exchange.bytes = 8192;
  entry.outcome = Outcome::copy;
  const std::array shares{share_of({100, 100, 100, 100, 100, 100})};
  fill_numbers(entry, shares);
  EXPECT_EQ(entry.gb_per_s, 2.0);
  EXPECT_EQ(entry.floor_ratio, 5);
  EXPECT_TRUE(entry.warnings.empty());
}

Samples on_device(std::vector<double> ns, std::vector<double> empty_ns) {
  Samples samples;
  samples.clock = "device";
  samples.iterations = 10;
  samples.step_ns = 100;
  samples.ns = std::move(ns);
  samples.empty_ns = std::move(empty_ns);
  return samples;
}

TEST(Numbers, WhatTheTimerOfADeviceCannotTellIsBounded) {
  const std::vector<double> quiet(6, 2000);
  const auto bound_ns = [](const Samples& samples) { return below_resolution(samples)->ns; };
  EXPECT_FALSE(below_resolution(on_device({20, 20, 20, 20, 20, 20}, quiet)));
  // Two steps over ten exchanges.
  EXPECT_EQ(bound_ns(on_device({19, 19, 19, 19, 19, 19}, quiet)), 20);
  EXPECT_EQ(below_resolution(on_device({19, 19, 19, 19, 19, 19}, quiet))->limit, "step");
  EXPECT_EQ(bound_ns(on_device({-9, -9, -9, -9, -9, -9}, quiet)), 20);
  // The empty rows scatter further than that.
  const Bound wide =
      below_resolution(on_device({20, 20, 20, 20, 20, 20}, {1800, 1800, 1800, 2000, 2000, 2000}))
          .value();
  EXPECT_EQ(wide.ns, 30);
  EXPECT_EQ(wide.limit, "empty-rows");
  EXPECT_EQ(wide.limit_ns, 300);
  Samples call = on_device({1, 1, 1, 1, 1, 1}, {});
  call.clock = "call";
  EXPECT_FALSE(below_resolution(call));
}

TEST(Numbers, RoundsThatScatterAreNotBlamedOnTheTimer) {
  const Samples samples = on_device({-50, 10, 50, 60, 70, 90}, std::vector<double>(6, 2000));
  const Bound bound = below_resolution(samples).value();
  EXPECT_GT(bound.ns, 70);
  EXPECT_EQ(bound.limit, "rounds");
  EXPECT_GT(bound.limit_ns, bound.ns);
  EXPECT_FALSE(bound.is_final);
  // They do not reach 0, but half of their interval is wider than the resolution, 20 ns.
  const Samples apart = on_device({2, 10, 30, 50, 70, 90}, std::vector<double>(6, 2000));
  EXPECT_EQ(below_resolution(apart)->limit, "rounds");
}

/// Rounds that lie close together on both sides of the resolution are not to blame: a timer with
/// finer steps would time them.
TEST(Numbers, ATimerIsNotBlamedOnRoundsThatLieCloseTogether) {
  const Samples samples = on_device({18, 18, 19, 20, 21, 22}, std::vector<double>(6, 2000));
  const Bound bound = below_resolution(samples).value();
  EXPECT_GT(bound.ns, 20);
  EXPECT_LE(bound.ns, 22);
  EXPECT_EQ(bound.limit, "step");
  EXPECT_EQ(bound.limit_ns, 100);
  EXPECT_FALSE(bound.is_final) << "more rounds may lie above the resolution";
}

TEST(Numbers, RoundsWhoseHostWasLateAreLeftOut) {
  Samples samples = on_device({20, 20, 20, 20}, std::vector<double>(4, 2000));
  EXPECT_FALSE(is_enough(samples));
  samples.behind = 2;
  EXPECT_TRUE(is_enough(samples));
  EXPECT_FALSE(is_host_late(samples));
  samples.ns = {20, 20};
  samples.behind = 4;
  EXPECT_FALSE(is_enough(samples));
  EXPECT_TRUE(is_host_late(samples));
}

// A run refines what is enough and not precise: without a burst that asks for it, it never ends.
TEST(Pace, ACellWithLateRoundsCanBeRefined) {
  Task task;
  task.clocks = {on_device({20, 20, 20, 20, 20}, std::vector<double>(5, 2000))};
  Samples& samples = task.clocks[0];
  samples.behind = 1;
  EXPECT_TRUE(is_enough(samples));
  EXPECT_TRUE(is_due({&task, &samples}));
  samples.behind = 0;
  samples.spent_ns = 2e9;  // five rounds that took their whole time
  EXPECT_FALSE(is_due({&task, &samples}));
}

TEST(Numbers, SeveralWorkersGiveTheMedianOfMediansAndAllTheirRanges) {
  Entry entry;
  entry.outcome = Outcome::zero_copy;
  const std::array shares{share_of({10, 10, 10}), share_of({20, 20, 20}), share_of({60, 60, 60})};
  fill_numbers(entry, shares);
  EXPECT_EQ(entry.median_ns, 20);
  EXPECT_EQ(entry.lo_ns, 10);
  EXPECT_EQ(entry.hi_ns, 60);
  EXPECT_EQ(entry.workers.size(), 3u);
  EXPECT_FALSE(entry.gb_per_s);
  EXPECT_EQ(dlbench::testing::texts_of(entry.warnings), std::vector<std::string>{"few rounds"});
}

TEST(Numbers, EachWorkerThatCalibratedAnotherBlockKeepsIt) {
  Entry entry;
  std::array shares{share_of({10, 10, 10}), share_of({10, 10, 10}), share_of({10, 10, 10})};
  fill_numbers(entry, shares);
  EXPECT_EQ(entry.iterations, 10U);
  for (const WorkerNumbers& worker : entry.workers) EXPECT_FALSE(worker.iterations);
  shares[0].iterations = 30;
  shares[1].iterations = 20;
  fill_numbers(entry, shares);
  EXPECT_EQ(entry.iterations, 20U);
  EXPECT_EQ(entry.workers[0].iterations, 30U);
  EXPECT_EQ(entry.workers[2].iterations, 10U);
}

TEST(Numbers, OnlyWorkersThatCopiedCountForTheRate) {
  Entry entry;
  entry.cell.exchange.bytes = 8192;
  entry.outcome = Outcome::copy;
  std::array shares{share_of({10, 10, 10}), share_of({20, 20, 20}), share_of({60, 60, 60})};
  shares[0].numbers.outcome = shares[1].numbers.outcome = Outcome::zero_copy;
  shares[2].numbers.outcome = Outcome::copy;
  shares[0].data_ns = shares[1].data_ns = 100;
  fill_numbers(entry, shares);
  EXPECT_EQ(entry.gb_per_s, 2.0);
  EXPECT_EQ(entry.workers[0].outcome, Outcome::zero_copy);
  EXPECT_EQ(entry.workers[2].outcome, Outcome::copy);
}

TEST(Numbers, EnoughIsSixRoundsOrAFewLongOnes) {
  Samples samples;
  samples.ns = {1, 1, 1, 1, 1};
  EXPECT_FALSE(is_enough(samples));
  samples.spent_ns = 3e9;
  EXPECT_TRUE(is_enough(samples));
  samples.ns.resize(2);
  EXPECT_FALSE(is_enough(samples));
  EXPECT_GT(stats::relative_half_width(samples.ns), 1e9);
  samples.fewest_long = 1;
  EXPECT_TRUE(is_enough(samples));
  samples.behind = 4;
  EXPECT_FALSE(is_enough(samples)) << "six rounds, of which too few can be used";
  samples.behind = 0;
  samples.spent_ns = 1e9;
  EXPECT_FALSE(is_enough(samples));
}

using Words = std::vector<std::string>;

Words warnings_of(const Share& share) {
  Entry entry;
  entry.outcome = Outcome::zero_copy;
  fill_numbers(entry, std::array{share, share});
  return dlbench::testing::texts_of(entry.warnings);
}

TEST(Numbers, RowsThatAnIntervalCannotTellAreWarnedOf) {
  EXPECT_EQ(warnings_of(share_of({100, 101, 100, 102, 99, 100, 101, 100, 99, 100, 101, 100})),
            Words{});
  EXPECT_EQ(warnings_of(share_of({100, 140, 100, 141, 99, 142, 101, 100, 140, 100, 141, 100})),
            Words{"bimodal"});
  EXPECT_EQ(warnings_of(share_of({100, 102, 104, 106, 108, 110, 112, 114})), Words{"drift"});
}

TEST(Numbers, RoundsThatWereDisturbedAreWarnedOfWhereTheyAreAThird) {
  Share share = share_of({100, 101, 100, 102, 99, 100, 101, 100, 99, 100, 101, 100});
  share.disturbed = {3, 3, 3};
  EXPECT_EQ(warnings_of(share), Words{}) << "the median bears a quarter";
  share.disturbed = {4, 4, 4};
  EXPECT_EQ(warnings_of(share), (Words{"migrated core", "preempted", "slow cpu"}));
  share.disturbed = {};
  // They are left out of the twelve.
  share.disturbed.behind = 5;
  EXPECT_EQ(warnings_of(share), Words{});
  share.disturbed.behind = 6;
  EXPECT_EQ(warnings_of(share), Words{"host behind"});
  Share few = share_of({100, 101, 100, 102, 99, 100});
  few.disturbed = {2, 2, 2};
  EXPECT_EQ(warnings_of(few), Words{});
}

// A machine on which each round is disturbed with a chance of one in twenty.
TEST(Numbers, HereAndThereADisturbanceIsNoWarning) {
  stats::Random random(1);
  for (const std::size_t rounds : {6U, 12U, 18U, 24U}) {
    int spoke = 0;
    for (int trial = 0; trial < 4000; ++trial) {
      Share share = share_of(std::vector<double>(rounds, 100));
      for (std::size_t i = 0; i < rounds; ++i) {
        share.disturbed.moved += random.uniform() < 0.05 ? 1 : 0;
      }
      spoke += warnings_of(share).empty() ? 0 : 1;
    }
    EXPECT_LE(spoke, 40) << rounds;
  }
}

TEST(Numbers, ARoundIsSlowWhereItsCanaryTookAFifthLonger) {
  EXPECT_EQ(core_ns({100, 300, 104, 102, 290}), 102) << "the mean of the faster half";
  EXPECT_FALSE(core_ns({100, 0, 104})) << "0: not measured";
  EXPECT_FALSE(core_ns({}));
  const std::vector<double> canary_ns{100, 119, 121, 300, 0};
  CoreSpeed core_speed;
  EXPECT_EQ(core_speed.slow_rounds(canary_ns), 0U);
  for (const double ns : canary_ns) core_speed.add_slow(ns);
  EXPECT_EQ(core_speed.slow_rounds(canary_ns), 2U);
}

Exchange exchange(const std::string& producer, const std::string& consumer, std::uint64_t bytes) {
  Exchange made;
  made.producer = producer;
  made.consumer = consumer;
  made.protocol = "dlpack";
  made.bytes = bytes;
  return made;
}

/// A planted machine of 1,000 KiB, 800 of them free.
class MemoryTest : public ::testing::Test {
 protected:
  MemoryTest() { write("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 800 kB\n"); }
  ~MemoryTest() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void expect(std::uint64_t total, std::uint64_t available) const {
    const Memory now = memory(root_);
    EXPECT_EQ(now.total, total);
    EXPECT_EQ(now.available, available);
  }

  std::filesystem::path root_{std::filesystem::path(::testing::TempDir()) /
                              ("memory" + std::to_string(::getpid()))};
};

TEST_F(MemoryTest, IsTheMachinesWhereNoGroupBoundsIt) {
  expect(1000 << 10, 800 << 10);
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/memory.max", "max\n");
  expect(1000 << 10, 800 << 10);
}

TEST_F(MemoryTest, EachGroupAboveItsOwnBoundsIt) {
  write("proc/self/cgroup", "0::/job/step\n");
  write("sys/fs/cgroup/job/memory.max", "500000\n");
  write("sys/fs/cgroup/job/memory.current", "450000\n");
  write("sys/fs/cgroup/job/memory.stat", "anon 1\ninactive_file 150000\n");
  expect(500000, 200000);
  write("sys/fs/cgroup/job/step/memory.max", "400000\n");
  write("sys/fs/cgroup/job/step/memory.current", "500000\n");
  expect(400000, 0);
}

TEST_F(MemoryTest, AContainersMountBeginsAtItsOwnGroup) {
  write("proc/self/cgroup", "0::/told/from/outside\n");
  write("sys/fs/cgroup/memory.max", "300000\n");
  write("sys/fs/cgroup/memory.current", "100000\n");
  expect(300000, 200000);
}

TEST_F(MemoryTest, TheFirstVersionHasOtherNames) {
  write("proc/self/cgroup", "4:cpu,memory:/job\n0::/\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "600000\n");
  write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "500000\n");
  write("sys/fs/cgroup/memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 50000\n");
  expect(600000, 150000);
}

TEST(FailedSteps, AreInheritedByWhomTheyConcern) {
  FailedSteps failed_steps;
  Failure slow;
  slow.outcome = Outcome::timed_out;
  failed_steps.timed_out(exchange("a", "b", 8192), slow);
  EXPECT_FALSE(failed_steps.of(exchange("a", "b", 4096)));
  EXPECT_TRUE(failed_steps.of(exchange("a", "b", 16384)));
  EXPECT_FALSE(failed_steps.of(exchange("a", "c", 16384)));
  failed_steps.make_failed(exchange("c", "b", 4096), Failure{});
  EXPECT_TRUE(failed_steps.of(exchange("c", "d", 4096)));
  EXPECT_FALSE(failed_steps.of(exchange("c", "d", 8192)));
  failed_steps.make_failed(exchange("e", "b", 4096), slow);
  EXPECT_TRUE(failed_steps.of(exchange("e", "d", 8192)));
  failed_steps.import_failed("default", "f", "consumer", Failure{});
  EXPECT_TRUE(failed_steps.of(exchange("a", "f", 4096)));
  EXPECT_FALSE(failed_steps.of(exchange("f", "a", 4096)));
}

TEST(Wire, ARequestIsWhatTheWorkerReads) {
  Task task;
  task.id = 7;
  task.exchange = exchange("a", "b", 4096);
  task.exchange.case_name = "f32-strided";
  task.clocks.resize(1);
  task.clocks[0].clock = "call";
  task.clocks[0].iterations = 40;
  const nlohmann::json prepare = prepare_request(task);
  EXPECT_EQ(prepare["exchange"]["case"], "f32-strided");
  EXPECT_EQ(prepare["case"]["layout"], "strided");
  EXPECT_EQ(prepare["clocks"], nlohmann::json({"call"}));
  EXPECT_EQ(round_request(task, task.clocks[0])["prelude"], 1);
}

TEST(Wire, APhasesBlockHasAWholeNumberOfExchanges) {
  PhaseRounds phases;
  nlohmann::json split{{"via", "proxy"}, {"iterations", 5}, {"calls", nlohmann::json::array()}};
  EXPECT_NO_THROW(read_split(split, phases));
  for (const nlohmann::json& bad : {nlohmann::json(-1), nlohmann::json(1e300), nlohmann::json(0)}) {
    split["iterations"] = bad;
    EXPECT_THROW(read_split(split, phases), ProtocolError) << bad;
  }
}

TEST(Wire, AnswersThatLackWhatCountsAreGarbage) {
  Task task;
  task.clocks.resize(1);
  task.clocks[0].clock = "call";
  const nlohmann::json good{{"outcome", "copy"}, {"iterations", {{"call", 5}}}};
  EXPECT_NO_THROW(read_prepared(good, {}, task));
  EXPECT_EQ(task.clocks[0].iterations, 5u);
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, nlohmann::json>>{{"outcome", "refused"},
                                                           {"outcome", "splendid"},
                                                           {"iterations", nlohmann::json::object()},
                                                           {"iterations", {{"call", 0}}},
                                                           {"first_ns", {{"call", -1}}},
                                                           {"evidence", {{"write", "perhaps"}}},
                                                           {"copied_by", "somebody"},
                                                           {"writable", "perhaps"},
                                                           {"guard", {{"pages", 4}}},
                                                           {"guard", "yes"},
                                                           {"changed", "dtype"}}) {
    nlohmann::json bad = good;
    bad[key] = value;
    EXPECT_THROW(read_prepared(bad, {}, task), ProtocolError) << bad;
  }
  nlohmann::json guard{{"pages", 4}, {"read", 4}, {"written", 0}, {"late", 1}, {"by", {"lib.so"}}};
  const auto judged = [&] { return nlohmann::json{{"outcome", "copy"}, {"guard", guard}}; };
  Task fresh;
  read_judged(judged(), fresh);
  EXPECT_EQ(fresh.verdict.observed.guard->late, 1U);
  guard["late"] = 5;
  EXPECT_THROW(read_judged(judged(), fresh), ProtocolError);
  for (const char* clock : {"call", "ready"}) {
    EXPECT_THROW(read_round({{"ns", 0}}, clock), ProtocolError);
    EXPECT_THROW(read_round({{"ns", -1.0}}, clock), ProtocolError);
    EXPECT_THROW(read_round({{"cpu_ns", 1.0}}, clock), ProtocolError);
  }
  // What is left after an empty row was subtracted may be below zero.
  const nlohmann::json row{{"ns", -1.0}, {"empty_ns", 2000.0}, {"spent_ns", 9e6}};
  EXPECT_EQ(read_round(row, "device").ns, -1.0);
  for (const char* key : {"ns", "empty_ns", "spent_ns"}) {
    nlohmann::json bad = row;
    bad.erase(key);
    EXPECT_THROW(read_round(bad, "device"), ProtocolError) << key;
  }
  EXPECT_THROW(read_error({{"outcome", "copy"}}, Outcome::refused), ProtocolError);
  EXPECT_EQ(read_error({{"exception", "E"}}, Outcome::refused).reason, "E");
}

}  // namespace
}  // namespace dlbench::supervisor
