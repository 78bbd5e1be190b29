#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "device/backends.hpp"
#include "fakes.hpp"

namespace dlbench::device {

constexpr std::int64_t ms = 1'000'000;

inline Address address_of(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

/// A test of the table by this name, on its first device: two independent streams, an event, and a
/// word that holds 1.
class TableTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const Backend& asked = *backend(GetParam());
    ASSERT_EQ(asked.state, State::Ok) << asked.detail;
    table = asked.table;
    ASSERT_EQ(table->enter(0), 0);
    const Mode own_queues("DLBENCH_FAKE_QUEUES", "0");
    ASSERT_EQ(table->stream_create(&a, non_blocking), 0);
    ASSERT_EQ(table->stream_create(&b, non_blocking), 0);
    ASSERT_EQ(table->event_create(&event, no_timing), 0);
    ASSERT_EQ(table->allocate(&word, sizeof(unsigned)), 0);
    ASSERT_EQ(table->fill32(word, 1, 1, a), 0);
    ASSERT_EQ(table->stream_synchronize(a), 0);
  }

  void TearDown() override {
    if (table == nullptr) return;
    EXPECT_EQ(table->synchronize(), 0);
    EXPECT_EQ(table->free(word), 0);
    EXPECT_EQ(table->event_destroy(event), 0);
    EXPECT_EQ(table->stream_destroy(b), 0);
    EXPECT_EQ(table->stream_destroy(a), 0);
  }

  /// What a copy in stream b's own order sees.
  unsigned observed() {
    unsigned value = 0;
    EXPECT_EQ(table->copy(address_of(&value), word, sizeof value, b), 0);
    EXPECT_EQ(table->stream_synchronize(b), 0);
    return value;
  }

  const Table* table = nullptr;
  Stream a = nullptr, b = nullptr;
  Event event = nullptr;
  Address word = 0;
};

}  // namespace dlbench::device
