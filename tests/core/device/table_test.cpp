#include <chrono>
#include <thread>

#include "tables.hpp"

namespace dlbench::device {
namespace {

INSTANTIATE_TEST_SUITE_P(Devices, TableTest, testing::Values("sim", "cuda", "rocm"),
                         [](const auto& one) { return std::string(one.param); });

TEST_P(TableTest, StreamsRunBesideEachOther) {
  EXPECT_EQ(table->delay(a, 20 * ms, 0, word, 2), 0);
  EXPECT_EQ(table->stream_query(a), not_ready);
  EXPECT_EQ(observed(), 1U);
  EXPECT_EQ(table->stream_synchronize(a), 0);
  EXPECT_EQ(observed(), 2U);
}

TEST_P(TableTest, AnEventOrdersTwoStreams) {
  EXPECT_EQ(table->delay(a, 20 * ms, 0, word, 2), 0);
  EXPECT_EQ(table->event_record(event, a), 0);
  EXPECT_EQ(table->event_query(event), not_ready);
  EXPECT_EQ(table->stream_wait(b, event, 0), 0);
  EXPECT_EQ(observed(), 2U);
  EXPECT_EQ(table->event_synchronize(event), 0);
  EXPECT_EQ(table->event_query(event), 0);
}

TEST_P(TableTest, TheLegacyStreamOrdersBlockingStreamsAlone) {
  Stream blocking = nullptr;
  EXPECT_EQ(table->stream_create(&blocking, 0), 0);
  table->delay(blocking, 20 * ms, 0, word, 2);
  table->delay(nullptr, 0, 0, word, 3);
  table->stream_synchronize(nullptr);
  EXPECT_EQ(table->stream_query(blocking), 0);
  EXPECT_EQ(observed(), 3U);
  table->delay(a, 20 * ms, 0, word, 4);
  table->delay(nullptr, 0, 0, word, 5);
  table->stream_synchronize(nullptr);
  EXPECT_EQ(table->stream_query(a), not_ready);
  table->stream_destroy(blocking);
}

TEST_P(TableTest, StampsAndEventsTellTheDelay) {
  Address stamps = 0;
  Event begin = nullptr;
  Event end = nullptr;
  EXPECT_EQ(table->event_create(&begin, 0), 0);
  EXPECT_EQ(table->event_create(&end, 0), 0);
  EXPECT_EQ(table->allocate_managed(&stamps, 2 * sizeof(std::int64_t)), 0);
  table->event_record(begin, a);
  table->delay(a, 5 * ms, stamps, 0, 0);
  table->event_record(end, a);
  table->stream_synchronize(a);
  const auto* const at = reinterpret_cast<const std::int64_t*>(static_cast<std::uintptr_t>(stamps));
  EXPECT_GE(at[1] - at[0], 5 * ms);
  float elapsed = 0;
  EXPECT_EQ(table->event_elapsed(&elapsed, begin, end), 0);
  EXPECT_GE(elapsed, 5.0F);
  table->event_destroy(begin);
  table->event_destroy(end);
  EXPECT_EQ(table->free(stamps), 0);
}

TEST_P(TableTest, PinnedMemoryShowsAStampBeforeAnybodyWaits) {
  void* pinned = nullptr;
  ASSERT_EQ(table->allocate_pinned(&pinned, 2 * sizeof(std::int64_t)), 0);
  auto* const stamps = static_cast<std::int64_t*>(pinned);
  stamps[0] = stamps[1] = 0;
  EXPECT_EQ(table->delay(a, 0, address_of(pinned), 0, 0), 0);
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (__atomic_load_n(&stamps[1], __ATOMIC_ACQUIRE) == 0 &&
         std::chrono::steady_clock::now() < limit) {
    std::this_thread::yield();
  }
  EXPECT_GT(stamps[0], 0);
  EXPECT_GE(stamps[1], stamps[0]);
  EXPECT_EQ(table->stream_synchronize(a), 0);
  EXPECT_EQ(table->free_pinned(pinned), 0);
}

TEST_P(TableTest, KnowsItsMemory) {
  const unsigned elsewhere = 0;
  void* pinned = nullptr;
  Address managed = 0;
  EXPECT_EQ(table->allocate_pinned(&pinned, 64), 0);
  EXPECT_EQ(table->allocate_managed(&managed, 64), 0);
  const auto kind_of = [this](Address address) {
    Memory kind{};
    int ordinal = -1;
    EXPECT_EQ(table->memory_of(&kind, &ordinal, address), 0);
    EXPECT_EQ(ordinal, 0);
    return kind;
  };
  EXPECT_EQ(kind_of(word + 3), Memory::Device);
  EXPECT_EQ(kind_of(address_of(&elsewhere)), Memory::Pageable);
  EXPECT_EQ(kind_of(address_of(pinned)), Memory::Pinned);
  EXPECT_EQ(kind_of(managed + 63), Memory::Managed);
  EXPECT_EQ(table->free_pinned(pinned), 0);
  EXPECT_EQ(table->free(managed), 0);
  EXPECT_NE(table->free(word + 4), 0);
}

TEST_P(TableTest, HasOneDevice) {
  int count = 0;
  EXPECT_EQ(table->device_count(&count), 0);
  EXPECT_EQ(count, backend(GetParam())->count);
  EXPECT_NE(table->enter(count), 0);
}

TEST_P(TableTest, NamesItsErrors) {
  EXPECT_NE(line(*table, "wait", not_ready).find("(600)"), std::string::npos);
  EXPECT_GT(std::string(table->error_name(not_ready)).size(), 5U);
}

}  // namespace
}  // namespace dlbench::device
