#include "device/sim.hpp"

#include <gtest/gtest.h>

namespace dlbench::device {
namespace {

constexpr std::int64_t ms = 1'000'000;

class Sim : public testing::Test {
 protected:
  Sim() {
    EXPECT_EQ(table.stream_create(&a, non_blocking), 0);
    EXPECT_EQ(table.stream_create(&b, non_blocking), 0);
    EXPECT_EQ(table.event_create(&event, no_timing), 0);
    EXPECT_EQ(table.allocate(&word, sizeof(unsigned)), 0);
    EXPECT_EQ(table.fill32(word, 1, 1, a), 0);
    EXPECT_EQ(table.stream_synchronize(a), 0);
  }
  ~Sim() override {
    table.synchronize();
    table.free(word);
    table.event_destroy(event);
    table.stream_destroy(b);
    table.stream_destroy(a);
  }

  /// What a copy in stream b's own order sees.
  unsigned seen() {
    unsigned value = 0;
    table.copy(reinterpret_cast<std::uintptr_t>(&value), word, sizeof value, b);
    table.stream_synchronize(b);
    return value;
  }

  const Table& table = sim::table();
  Stream a = nullptr, b = nullptr;
  Event event = nullptr;
  Address word = 0;
};

TEST_F(Sim, StreamsRunBesideEachOther) {
  table.delay(a, 20 * ms, 0, word, 2);
  EXPECT_EQ(table.stream_query(a), not_ready);
  EXPECT_EQ(seen(), 1U);
  table.stream_synchronize(a);
  EXPECT_EQ(seen(), 2U);
}

TEST_F(Sim, AnEventOrdersTwoStreams) {
  table.delay(a, 20 * ms, 0, word, 2);
  table.event_record(event, a);
  EXPECT_EQ(table.event_query(event), not_ready);
  table.stream_wait(b, event, 0);
  EXPECT_EQ(seen(), 2U);
}

TEST_F(Sim, TheLegacyStreamOrdersBlockingStreamsAlone) {
  Stream blocking = nullptr;
  table.stream_create(&blocking, 0);
  table.delay(blocking, 20 * ms, 0, word, 2);
  table.delay(nullptr, 0, 0, word, 3);
  table.stream_synchronize(nullptr);
  EXPECT_EQ(table.stream_query(blocking), 0);
  EXPECT_EQ(seen(), 3U);
  table.delay(a, 20 * ms, 0, word, 4);
  table.delay(nullptr, 0, 0, word, 5);
  table.stream_synchronize(nullptr);
  EXPECT_EQ(table.stream_query(a), not_ready);
  table.stream_destroy(blocking);
}

TEST_F(Sim, StampsAndEventsTellTheDelay) {
  Address stamps = 0;
  Event end = nullptr;
  table.event_create(&end, 0);
  table.allocate_managed(&stamps, 2 * sizeof(std::int64_t));
  table.event_record(event, a);
  table.delay(a, 5 * ms, stamps, 0, 0);
  table.event_record(end, a);
  table.stream_synchronize(a);
  const auto* const at = reinterpret_cast<const std::int64_t*>(static_cast<std::uintptr_t>(stamps));
  EXPECT_GE(at[1] - at[0], 5 * ms);
  float elapsed = 0;
  EXPECT_EQ(table.event_elapsed(&elapsed, event, end), 0);
  EXPECT_GE(elapsed, 5.0F);
  table.event_destroy(end);
  table.free(stamps);
}

TEST_F(Sim, KnowsItsMemory) {
  Memory kind{};
  table.memory_of(&kind, word + 3);
  EXPECT_EQ(kind, Memory::Device);
  const unsigned elsewhere = 0;
  table.memory_of(&kind, reinterpret_cast<std::uintptr_t>(&elsewhere));
  EXPECT_EQ(kind, Memory::Pageable);
  EXPECT_NE(table.free(word + 4), 0);
}

}  // namespace
}  // namespace dlbench::device
