// The fake drivers do what real ones do, where a test could otherwise pass on the fake alone.
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "fakes.hpp"
#include "tables.hpp"

namespace dlbench::device {
namespace {

class StrictTest : public TableTest {
 protected:
  /// What a copy in a stream's own order sees in a word.
  unsigned observed_by(Stream stream, Address at) {
    unsigned value = 0;
    EXPECT_EQ(table->copy(address_of(&value), at, sizeof value, stream), 0);
    EXPECT_EQ(table->stream_synchronize(stream), 0);
    return value;
  }

  /// As many streams as asked for, destroyed with the test.
  std::vector<Stream> make_streams(std::size_t count) {
    std::vector<Stream> made(count);
    for (Stream& stream : made) {
      EXPECT_EQ(table->stream_create(&stream, non_blocking), 0);
      streams_.push_back(stream);
    }
    return made;
  }

  /// Whether work of `second` waits for earlier work of `first`.
  bool is_ordered(Stream first, Stream second) {
    EXPECT_EQ(table->fill32(word, 1, 1, a), 0);
    EXPECT_EQ(table->stream_synchronize(a), 0);
    EXPECT_EQ(table->delay(first, 30 * ms, 0, word, 2), 0);
    const unsigned value = observed_by(second, word);
    EXPECT_EQ(table->synchronize(), 0);
    return value == 2;
  }

  void TearDown() override {
    for (Stream stream : streams_) EXPECT_EQ(table->stream_destroy(stream), 0);
    TableTest::TearDown();
  }

 private:
  std::vector<Stream> streams_;
};

INSTANTIATE_TEST_SUITE_P(Devices, StrictTest, testing::Values("cuda", "rocm"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(StrictTest, FreedMemoryKeepsItsContentForTheNextOfItsSize) {
  constexpr std::size_t bytes = 4096 + 512;
  Address first = 0;
  Address second = 0;
  ASSERT_EQ(table->allocate(&first, bytes), 0);
  ASSERT_EQ(table->allocate(&second, bytes), 0);
  ASSERT_EQ(table->fill32(first, 7, bytes / 4, a), 0);
  ASSERT_EQ(table->fill32(second, 8, bytes / 4, a), 0);
  ASSERT_EQ(table->free(first), 0);
  ASSERT_EQ(table->free(second), 0);
  Address again = 0;
  ASSERT_EQ(table->allocate(&again, bytes), 0);
  EXPECT_EQ(again, second);
  EXPECT_EQ(observed_by(a, again), 8U);
  Address other = 0;
  ASSERT_EQ(table->allocate(&other, bytes / 2), 0);
  EXPECT_NE(other, first);
  EXPECT_EQ(table->free(other), 0);
  EXPECT_EQ(table->free(again), 0);
}

TEST_P(StrictTest, StreamsShareTheQueuesOfTheirDevice) {
  const std::size_t queues = table->name == "cuda" ? 8 : 4;
  const auto made = make_streams(queues + 1);
  EXPECT_TRUE(is_ordered(made[0], made[queues]));
  EXPECT_FALSE(is_ordered(made[0], made[1]));
  EXPECT_FALSE(is_ordered(made[0], made[queues - 1]));
}

TEST_P(StrictTest, OrAnotherNumberOfThem) {
  const Mode two("DLBENCH_FAKE_QUEUES", "2");
  const auto made = make_streams(3);
  EXPECT_TRUE(is_ordered(made[0], made[2]));
  EXPECT_FALSE(is_ordered(made[0], made[1]));
  const Mode none("DLBENCH_FAKE_QUEUES", "0");
  const auto own = make_streams(9);
  EXPECT_FALSE(is_ordered(own[0], own[8]));
}

TEST_P(StrictTest, AQueryIsOfTheStreamAndNotOfItsQueue) {
  const Mode one("DLBENCH_FAKE_QUEUES", "1");
  const auto made = make_streams(2);
  EXPECT_EQ(table->delay(made[0], 30 * ms, 0, 0, 0), 0);
  EXPECT_EQ(table->stream_query(made[0]), not_ready);
  EXPECT_EQ(table->stream_query(made[1]), 0);
  EXPECT_EQ(table->stream_synchronize(made[1]), 0);
  EXPECT_EQ(table->stream_query(made[0]), not_ready);
}

TEST_P(StrictTest, AnEmptyPairOfEventsTakesTwoMicroseconds) {
  Event begin = nullptr;
  Event end = nullptr;
  ASSERT_EQ(table->event_create(&begin, 0), 0);
  ASSERT_EQ(table->event_create(&end, 0), 0);
  // The queue is held until both are in it, so that no time of the host lies between them.
  const auto elapsed_ns = [&] {
    table->delay(a, 20 * ms, 0, 0, 0);
    table->event_record(begin, a);
    table->event_record(end, a);
    EXPECT_EQ(table->event_query(begin), not_ready);
    table->stream_synchronize(a);
    float milliseconds = 0;
    EXPECT_EQ(table->event_elapsed(&milliseconds, begin, end), 0);
    return std::lround(static_cast<double>(milliseconds) * 1e6);
  };
  EXPECT_EQ(elapsed_ns(), 2000);
  table->event_destroy(begin);
  table->event_destroy(end);
}

TEST_P(StrictTest, ADelayIsStampedInStepsOfTheTimer) {
  Address stamps = 0;
  ASSERT_EQ(table->allocate_managed(&stamps, 2 * sizeof(std::int64_t)), 0);
  const auto* const at = reinterpret_cast<const std::int64_t*>(static_cast<std::uintptr_t>(stamps));
  ASSERT_EQ(table->delay(a, 2300, stamps, 0, 0), 0);
  ASSERT_EQ(table->stream_synchronize(a), 0);
  EXPECT_EQ(at[0] % 1000, 0);
  EXPECT_EQ(at[1] % 1000, 0);
  EXPECT_GE(at[1] - at[0], 3000);
  EXPECT_EQ(table->free(stamps), 0);
}

TEST_P(StrictTest, AFullQueueBlocksTheHost) {
  const Mode few("DLBENCH_FAKE_PENDING", "4");
  ASSERT_EQ(table->delay(a, 30 * ms, 0, word, 2), 0);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(table->fill32(word, 3, 0, a), 0);
  EXPECT_EQ(observed(), 1U);
  // The fifth has no place before the delay has ended.
  ASSERT_EQ(table->fill32(word, 3, 0, a), 0);
  EXPECT_EQ(observed(), 2U);
}

TEST_P(StrictTest, ACopyOfPageableMemoryBlocksTheHost) {
  unsigned pageable = 0;
  void* pinned = nullptr;
  ASSERT_EQ(table->allocate_pinned(&pinned, sizeof(unsigned)), 0);
  ASSERT_EQ(table->delay(a, 30 * ms, 0, word, 2), 0);
  ASSERT_EQ(table->copy(address_of(pinned), word, sizeof pageable, a), 0);
  EXPECT_EQ(table->stream_query(a), not_ready);
  ASSERT_EQ(table->copy(address_of(&pageable), word, sizeof pageable, a), 0);
  EXPECT_EQ(table->stream_query(a), 0);
  EXPECT_EQ(pageable, 2U);
  EXPECT_EQ(table->free_pinned(pinned), 0);
}

TEST_P(StrictTest, WhatIsDestroyedIsRefused) {
  const bool is_cuda = table->name == "cuda";
  const Code destroyed = is_cuda ? 400 : 709;
  Stream stream = nullptr;
  Event timed = nullptr;
  ASSERT_EQ(table->stream_create(&stream, non_blocking), 0);
  ASSERT_EQ(table->event_create(&timed, 0), 0);
  ASSERT_EQ(table->stream_destroy(stream), 0);
  EXPECT_EQ(table->stream_destroy(stream), destroyed);
  EXPECT_EQ(table->stream_synchronize(stream), destroyed);
  EXPECT_EQ(table->stream_query(stream), destroyed);
  EXPECT_EQ(table->event_record(timed, stream), destroyed);
  EXPECT_EQ(table->stream_wait(stream, timed, 0), 400);
  EXPECT_EQ(table->copy(word, word, 4, stream), destroyed);
  EXPECT_EQ(table->delay(stream, 0, 0, 0, 0), is_cuda ? 400 : 1);
  ASSERT_EQ(table->event_destroy(timed), 0);
  EXPECT_EQ(table->event_destroy(timed), destroyed);
  EXPECT_EQ(table->event_record(timed, a), 400);
  EXPECT_EQ(table->event_query(timed), 400);
  EXPECT_EQ(table->event_synchronize(timed), 400);
  EXPECT_EQ(table->stream_wait(a, timed, 0), 400);
  // A handle of nothing at all is not looked into either.
  EXPECT_EQ(table->stream_synchronize(this), destroyed);
  EXPECT_EQ(table->event_query(this), 400);
}

TEST_P(StrictTest, TimesAreOfRecordedEventsThatTakeTimes) {
  Event timed = nullptr;
  ASSERT_EQ(table->event_create(&timed, 0), 0);
  float milliseconds = 0;
  EXPECT_EQ(table->event_elapsed(&milliseconds, timed, timed), 400);
  ASSERT_EQ(table->event_record(timed, a), 0);
  ASSERT_EQ(table->event_record(event, a), 0);
  ASSERT_EQ(table->stream_synchronize(a), 0);
  EXPECT_EQ(table->event_elapsed(&milliseconds, timed, event), 400);
  EXPECT_EQ(table->event_elapsed(&milliseconds, timed, timed), 0);
  EXPECT_EQ(table->event_destroy(timed), 0);
}

TEST_P(StrictTest, AnAddressOfNothingIsRefused) {
  EXPECT_EQ(table->fill32(word, 1, 2, a), 1);
  EXPECT_EQ(table->copy(word, 0, 4, a), 1);
  EXPECT_EQ(table->copy(word + 2, word, 4, a), 1);
  Address freed = 0;
  ASSERT_EQ(table->allocate(&freed, 4), 0);
  ASSERT_EQ(table->free(freed), 0);
  EXPECT_EQ(table->free(freed), 1);
  EXPECT_EQ(table->copy(word, freed, 4, a), 1);
  EXPECT_EQ(table->fill32(freed, 1, 1, a), 1);
}

constexpr int thread_local_mode = 1;
constexpr int relaxed_mode = 2;

/// Captures of a stream: how they end, and the number of their nodes.
class CaptureTest : public StrictTest {
 protected:
  void begin(Stream stream, int mode = capture_global) {
    ASSERT_EQ(table->capture_begin(stream, mode), 0);
    EXPECT_EQ(status(stream), 1);
  }

  int status(Stream stream) {
    int found = -1;
    EXPECT_EQ(table->capture_status(stream, &found), 0);
    return found;
  }

  /// The number of nodes; of a broken capture the negated code.
  int end(Stream stream) {
    Graph graph = nullptr;
    const Code code = table->capture_end(stream, &graph);
    EXPECT_EQ(graph == nullptr, code != 0);
    EXPECT_EQ(status(stream), not_capturing);
    EXPECT_EQ(table->stream_synchronize(stream), 0);  // usable again
    if (code != 0) return -code;
    std::size_t nodes = 0;
    EXPECT_EQ(table->graph_nodes(graph, nullptr, &nodes), 0);
    EXPECT_EQ(table->graph_destroy(graph), 0);
    EXPECT_EQ(table->graph_destroy(graph), 1);
    return static_cast<int>(nodes);
  }

  void record(Stream stream) { EXPECT_EQ(table->event_record(event, stream), 0); }
  void wait(Stream stream) { EXPECT_EQ(table->stream_wait(stream, event, 0), 0); }

  Stream make_blocking() {
    Stream made = nullptr;
    EXPECT_EQ(table->stream_create(&made, 0), 0);
    return made;
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, CaptureTest, testing::Values("cuda", "rocm"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(CaptureTest, WorkBecomesNodesAndDoesNotRun) {
  begin(a);
  EXPECT_EQ(table->fill32(word, 7, 1, a), 0);
  EXPECT_EQ(table->delay(a, 0, 0, word, 8), 0);
  EXPECT_EQ(end(a), 2);
  EXPECT_EQ(observed(), 1U);
  begin(a);
  EXPECT_EQ(end(a), 0);
}

TEST_P(CaptureTest, AForkThatIsJoinedIsPartOfTheGraph) {
  begin(a);
  record(a);
  wait(b);
  EXPECT_EQ(status(b), 1);
  EXPECT_EQ(table->fill32(word, 7, 1, b), 0);
  record(b);
  wait(a);
  EXPECT_EQ(end(a), 1);
  EXPECT_EQ(status(b), not_capturing);
  EXPECT_EQ(observed(), 1U);
}

TEST_P(CaptureTest, AForkThatIsNotJoinedHasNoGraph) {
  begin(a);
  record(a);
  wait(b);
  EXPECT_EQ(table->fill32(word, 7, 1, b), 0);
  EXPECT_EQ(end(a), -904);
  EXPECT_EQ(status(b), not_capturing);
}

TEST_P(CaptureTest, AnEventOfOtherWorkBreaksIt) {
  record(b);
  begin(a);
  EXPECT_EQ(table->stream_wait(a, event, 0), 905);
  EXPECT_EQ(status(a), capture_invalidated);
  EXPECT_EQ(table->fill32(word, 7, 1, a), 901);
  EXPECT_EQ(end(a), -901);
}

TEST_P(CaptureTest, AWaitOfTheHostBreaksIt) {
  begin(a);
  EXPECT_EQ(table->stream_synchronize(a), 900);
  EXPECT_EQ(end(a), -901);
  begin(a);
  EXPECT_EQ(table->stream_query(a), 900);
  EXPECT_EQ(end(a), -901);
  begin(a);
  EXPECT_EQ(table->synchronize(), 900);
  EXPECT_EQ(end(a), -901);
  begin(a);
  record(a);
  EXPECT_EQ(table->event_query(event), 907);
  EXPECT_EQ(end(a), -901);
  begin(a);
  EXPECT_EQ(table->stream_synchronize(b), 0);  // another stream
  EXPECT_EQ(end(a), 0);
}

TEST_P(CaptureTest, TheDefaultStreamIsUnusableBesideABlockingStream) {
  const Stream blocking = make_blocking();
  begin(blocking);
  EXPECT_EQ(table->fill32(word, 7, 1, nullptr), 906);
  EXPECT_EQ(end(blocking), -901);
  begin(blocking);
  EXPECT_EQ(table->stream_synchronize(nullptr), 906);
  EXPECT_EQ(end(blocking), -901);
  EXPECT_EQ(table->stream_destroy(blocking), 0);
  begin(a);
  EXPECT_EQ(table->fill32(word, 7, 1, nullptr), 0);
  record(a);
  EXPECT_EQ(table->stream_wait(nullptr, event, 0), 906);  // it cannot capture
  EXPECT_EQ(end(a), -901);
  EXPECT_EQ(table->capture_begin(nullptr, capture_global), 900);
}

TEST_P(CaptureTest, TwoCapturesDoNotMerge) {
  begin(a);
  begin(b);
  record(a);
  EXPECT_EQ(table->stream_wait(b, event, 0), 902);
  EXPECT_EQ(end(a), -901);
  EXPECT_EQ(end(b), -901);
}

TEST_P(CaptureTest, ItEndsWhereItBegan) {
  Graph graph = nullptr;
  EXPECT_EQ(table->capture_end(a, &graph), 401);
  begin(a);
  EXPECT_EQ(table->capture_begin(a, capture_global), 401);
  record(a);
  wait(b);
  EXPECT_EQ(table->capture_end(b, &graph), 903);
  EXPECT_EQ(end(a), -901);
}

TEST_P(CaptureTest, AnAllocationBreaksItUnlessItIsRelaxed) {
  for (const int mode : {capture_global, thread_local_mode, relaxed_mode}) {
    begin(a, mode);
    Address made = 0;
    const bool is_refused = mode != relaxed_mode;
    EXPECT_EQ(table->allocate(&made, 4), is_refused ? 900 : 0);
    EXPECT_EQ(end(a), is_refused ? -901 : 0);
    EXPECT_EQ(made == 0, is_refused);
    EXPECT_EQ(table->free(made), 0);
  }
}

TEST_P(CaptureTest, OtherThreadsMayAllocateUnlessItIsGlobal) {
  for (const int mode : {capture_global, thread_local_mode, relaxed_mode}) {
    begin(a, mode);
    Code allocated = 0;
    Code ended = 0;
    Address made = 0;
    Graph graph = nullptr;
    std::thread([&] {
      ASSERT_EQ(table->enter(0), 0);
      allocated = table->allocate(&made, 4);
      if (mode != relaxed_mode) ended = table->capture_end(a, &graph);
    }).join();
    EXPECT_EQ(allocated, mode == capture_global ? 900 : 0);
    EXPECT_EQ(ended, mode == relaxed_mode ? 0 : 908);
    EXPECT_EQ(end(a), mode == capture_global ? -901 : 0);
    EXPECT_EQ(made == 0, mode == capture_global);
    EXPECT_EQ(table->free(made), 0);
  }
}

}  // namespace
}  // namespace dlbench::device
