#include "sync/classifier.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "device/sim.hpp"
#include "model/codes.hpp"
#include "sync/late.hpp"
#include "sync/planted.hpp"
#include "sync/situations.hpp"
#include "sync/streams.hpp"

namespace dlbench::sync {
namespace {

constexpr Ns ms = 1'000'000;

Trial trial(Content before, Content after_export, Content content, Ns delay = 5 * ms) {
  Trial made;
  made.delay = delay;
  made.before = {before, after_export, after_export};
  made.after = {after_export, after_export, Content::New};
  made.content = content;
  return made;
}

TEST(Tally, OldContentBehindBothCallsProvesThatNobodyWaitedInThem) {
  const Tally found = tally({trial(Content::Old, Content::Old, Content::New)});
  EXPECT_EQ(found.early, 1);
  EXPECT_EQ(found.ordered, 1);
}

TEST(Tally, WithoutPowerATrialSaysNothing) {
  const std::vector<Trial> powerless(8, trial(Content::New, Content::New, Content::New));
  EXPECT_EQ(tally(powerless).pending, 0);
  EXPECT_EQ(tally(powerless).word({}, 8), Waits::no_delay);
}

TEST(Tally, WhatIsOnlyLikelyHasToRepeat) {
  std::vector<Trial> held(2, trial(Content::Old, Content::New, Content::New));
  EXPECT_EQ(tally(held).word({}, 2), Waits::inconclusive);
  held.push_back(held.front());
  EXPECT_EQ(tally(held).word({}, 3), Waits::host);
}

TEST(Tally, ALookBeforeTheReadThatSawNewContentTakesAQueuesWaitAway) {
  std::vector<Trial> trials(6, trial(Content::Old, Content::Old, Content::New));
  EXPECT_EQ(tally(trials).word({}, 6), Waits::stream);
  for (Trial& one : trials) one.before[kRead] = Content::New;
  EXPECT_EQ(tally(trials).word({}, 6), Waits::inconclusive);
}

TEST(Tally, QueuesThatWereNotSeenToBeIndependentGiveNoVerdict) {
  Trial untried;
  untried.is_independent = false;
  const Tally found = tally(std::vector<Trial>(8, untried));
  EXPECT_EQ(found.dependent, 8);
  EXPECT_EQ(found.word({}, 8), Waits::inconclusive);
}

TEST(Tally, OneStaleReadForbidsToSayThatAnybodyWaited) {
  std::vector<Trial> trials(10, trial(Content::Old, Content::New, Content::New));
  trials.push_back(trial(Content::Old, Content::Old, Content::Old));
  EXPECT_EQ(tally(trials).word({}, 11), Waits::inconclusive);
  EXPECT_EQ(tally(trials).word({}, 40), Waits::none);
}

TEST(Share, IsTheSlopeOverTwoDelays) {
  Trial brief = trial(Content::Old, Content::New, Content::New, 5 * ms);
  Trial lengthy = trial(Content::Old, Content::New, Content::New, 10 * ms);
  brief.delayed = 5e6;
  lengthy.delayed = 10e6;
  brief.took[kExport] = 3 * ms;
  lengthy.took[kExport] = 8 * ms;
  EXPECT_DOUBLE_EQ(*blocked_share({brief, lengthy}, kExport, 5 * ms), 1.0);
  EXPECT_DOUBLE_EQ(*blocked_share({brief, lengthy}, kImport, 5 * ms), 0.0);
  EXPECT_FALSE(blocked_share({}, kExport, 5 * ms));
}

class EachKind : public testing::TestWithParam<Kind> {};

TEST_P(EachKind, IsFound) {
  const Planted planted(GetParam());
  if (is_about_freeing(GetParam())) {
    EXPECT_EQ(late_free(planted.queue()).word, truth(GetParam()));
    return;
  }
  const Verdict verdict = classify(planted.queue());
  EXPECT_EQ(to_string(verdict.waits), truth(GetParam()));
  EXPECT_GT(verdict.transfer_ns, 0);
  ASSERT_TRUE(verdict.content && verdict.gap_ns);
  EXPECT_EQ(*verdict.content == Content::Old, is_unordered(verdict.waits));
  // What is read too early is read before the producer ends, on the device's own clock.
  EXPECT_EQ(*verdict.gap_ns < 0, is_unordered(verdict.waits));
}

INSTANTIATE_TEST_SUITE_P(Planted, EachKind,
                         testing::Values(Kind::Nothing, Kind::Event, Kind::Host, Kind::Wrong,
                                         Kind::HostWrong, Kind::Late, Kind::Deferred,
                                         Kind::Waiting));

TEST(Synchronization, ADelayThatNeverIsThereGivesNoVerdict) {
  Planted planted(Kind::Nothing);
  Queue queue = planted.queue();
  queue.arm = [&planted](Ns, Ns) {
    planted.queue().arm(0, 0);
    planted.queue().settle();
  };
  const Verdict verdict = classify(queue);
  EXPECT_EQ(verdict.waits, Waits::no_delay);
  EXPECT_FALSE(verdict.content);
  EXPECT_EQ(verdict.reason, codes::kNeverBusy);
}

TEST(Synchronization, AProducerThatWaitsForItsOwnWorkIsTheReason) {
  Planted planted(Kind::Nothing);
  Queue queue = planted.queue();
  queue.arm = [&planted](Ns delay, Ns decoy) {
    planted.queue().arm(delay, decoy);
    planted.queue().settle();
  };
  const Verdict verdict = classify(queue);
  EXPECT_EQ(verdict.waits, Waits::no_delay);
  EXPECT_EQ(verdict.reason, codes::kBeginBlocks);
}

TEST(Synchronization, WithoutABystanderNoWaitMayBeAWaitForAnother) {
  for (const Kind kind : {Kind::Nothing, Kind::Wrong}) {
    const Planted planted(kind);
    Queue queue = planted.queue();
    EXPECT_EQ(classify(queue).reason, "");
    queue.decoy = {};
    const Verdict verdict = classify(queue);
    EXPECT_EQ(verdict.waits, Waits::none);
    EXPECT_EQ(verdict.reason, codes::kNoOtherStream);
  }
}

TEST(Synchronization, ALookAtTheWrongPlaceGivesNoVerdict) {
  for (const Kind kind : {Kind::Event, Kind::Host, Kind::Nothing}) {
    Planted planted(kind);
    Queue queue = planted.queue();
    bool is_busy = false;
    queue.arm = [&](Ns delay, Ns decoy) {
      is_busy = delay > 0;
      planted.queue().arm(delay, decoy);
    };
    queue.peek = [&] { return is_busy ? Content::Old : planted.queue().peek(); };
    queue.read = [&] {
      planted.queue().settle();
      return planted.queue().read();
    };
    EXPECT_EQ(classify(queue).waits, Waits::no_delay) << truth(kind);
  }
}

TEST(Synchronization, AReadThatDiffersFromWhatIsThereGivesNoVerdict) {
  Planted planted(Kind::Host);
  Queue queue = planted.queue();
  queue.read = [&planted] {
    planted.queue().read();
    return Content::Old;
  };
  EXPECT_EQ(classify(queue).waits, Waits::inconclusive);
}

TEST(Synchronization, ADelayThatIsTooShortIsDoubledUpToTheLongest) {
  Planted planted(Kind::Nothing);
  Queue queue = planted.queue();
  Ns longest = 0;
  queue.arm = [&](Ns delay, Ns decoy) {
    longest = std::max(longest, delay);
    const bool lasts = delay > 80 * ms;
    planted.queue().arm(lasts ? 20 * ms : 0, decoy);
    if (!lasts) planted.queue().settle();
  };
  queue.decoy = {};
  EXPECT_EQ(classify(queue).waits, Waits::none);
  EXPECT_EQ(longest, 160 * ms);
}

TEST(Synchronization, WhatWasBusyOnceWasNotNever) {
  Planted planted(Kind::Host);
  Queue queue = planted.queue();
  bool was_busy = false;
  queue.arm = [&](Ns delay, Ns) {
    const bool busy = delay > 0 && !was_busy;
    was_busy = was_busy || busy;
    planted.queue().arm(busy ? 20 * ms : 0, 0);
    if (!busy) planted.queue().settle();
  };
  const Verdict verdict = classify(queue);
  EXPECT_EQ(verdict.waits, Waits::inconclusive);
  EXPECT_EQ(verdict.trials, Options{}.most);
}

TEST(Synchronization, ALongerDelayDoesNotForgetAnEarlyRead) {
  Planted racing(Kind::Nothing), waiting(Kind::Host);
  Planted* planted = &racing;
  Queue queue = racing.queue();
  int armed = 0;
  queue.arm = [&](Ns delay, Ns) {
    // Old content is read once; from then on the delay ends too soon until it is a longer one, and
    // the host waits.
    const bool is_first = delay > 0 && ++armed == 1;
    planted = is_first || delay == 0 ? &racing : &waiting;
    const bool lasts = is_first || delay > Options{}.delay * 2;
    planted->queue().arm(lasts ? std::max(delay, 20 * ms) : 0, 0);
    if (!lasts) planted->queue().settle();
  };
  queue.peek = [&] { return planted->queue().peek(); };
  queue.export_array = [&] { planted->queue().export_array(); };
  queue.import_array = [&] { planted->queue().import_array(); };
  queue.read = [&] { return planted->queue().read(); };
  queue.settle = [&] { planted->queue().settle(); };
  queue.decoy = {};
  const Verdict verdict = classify(queue);
  EXPECT_EQ(verdict.waits, Waits::none);
  EXPECT_EQ(verdict.content, Content::Old);
}

TEST(Synchronization, SettlesWhereACallIsRefused) {
  Planted planted(Kind::Nothing);
  Queue queue = planted.queue();
  int run_and_settle = 0;
  queue.import_array = [] { throw std::runtime_error("no"); };
  queue.settle = [&] {
    ++run_and_settle;
    planted.queue().settle();
  };
  EXPECT_THROW(classify(queue), std::runtime_error);
  EXPECT_EQ(run_and_settle, 1);
}

TEST(Synchronization, QueuesThatAreNotIndependentGiveNoVerdict) {
  for (const Kind kind : {Kind::Event, Kind::Host, Kind::Nothing}) {
    Planted planted(kind);
    Queue queue = planted.queue();
    queue.is_independent = [](Ns) { return false; };
    const Verdict verdict = classify(queue);
    EXPECT_EQ(verdict.waits, Waits::inconclusive) << truth(kind);
    EXPECT_EQ(verdict.reason, codes::kDependentStreams);
    EXPECT_FALSE(verdict.content);
  }
}

/// The simulated device with so few hardware queues, which new streams take in turn.
device::Table with_queues(std::size_t count) {
  static std::size_t most, created;
  static std::vector<device::Stream> queues;
  most = count;
  created = 0;
  queues.clear();
  device::Table made = device::sim::table();
  made.stream_create = [](device::Stream* stream, unsigned flags) {
    if (queues.size() < most) {
      device::sim::table().stream_create(stream, flags);
      queues.push_back(*stream);
    }
    *stream = queues[created++ % most];
    return 0;
  };
  made.stream_destroy = [](device::Stream) { return 0; };
  return made;
}

TEST(Streams, AreTakenThatRunBesideOneAnother) {
  const device::Table table = with_queues(4);
  const Streams streams(table, true);
  EXPECT_TRUE(streams.are_independent() && streams.has_unrelated_stream());
  const std::set<device::Stream> chosen{streams.producer(), streams.consumer(),
                                        streams.unrelated_stream()};
  EXPECT_EQ(chosen.size(), 3U);
}

TEST(Streams, AreTakenBesideTheConsumersOwn) {
  const device::Table table = with_queues(4);
  device::Stream own = nullptr;
  table.stream_create(&own, device::non_blocking);
  table.stream_create(&own, device::non_blocking);
  const Streams streams(table, true, own);
  EXPECT_TRUE(streams.are_independent());
  EXPECT_EQ(streams.consumer(), own);
  EXPECT_NE(streams.producer(), own);
}

TEST(Streams, ThatShareOneQueueAreNotIndependent) {
  const device::Table one = with_queues(1);
  const Streams alike(one, true);
  EXPECT_FALSE(alike.are_independent() || alike.has_unrelated_stream());
  const device::Table three = with_queues(3);
  const Streams few(three, true);
  EXPECT_TRUE(few.are_independent());
  EXPECT_FALSE(few.has_unrelated_stream());
}

TEST(LateFree, WithoutPowerIsNotSafe) {
  Planted planted(Kind::Waiting);
  Queue queue = planted.queue();
  queue.overwrite = [] {};
  EXPECT_EQ(late_free(queue).word, "inconclusive");
}

TEST(Situations, AreWhatWasAskedFor) {
  const std::vector<Situation> tried = try_planted(16, 7, 8);
  ASSERT_EQ(tried.size(), 16U);
  for (const Situation& one : tried) {
    EXPECT_TRUE(one.is_right()) << one.found << " for " << truth(one.kind);
    EXPECT_GE(one.delay, 5 * ms);
    EXPECT_LE(one.delay, 20 * ms);
  }
}

}  // namespace
}  // namespace dlbench::sync
