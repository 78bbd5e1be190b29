#include "device/characterize.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "device/backends.hpp"

namespace dlbench::device {
namespace {

const Table* real = nullptr;
Stream busy = nullptr;
Code when_freed = 0;

Code refuse_record(Event, Stream) {
  return 700;
}

Code free_pinned(void* begin) {
  when_freed = real->stream_query(busy);
  return real->free_pinned(begin);
}

TEST(OrderBehind, StampsOutliveADelayBehindWhichACallFails) {
  real = backend("sim")->table;
  ASSERT_EQ(real->enter(0), 0);
  ASSERT_EQ(real->stream_create(&busy, non_blocking), 0);
  Table table = *real;
  table.event_record = &refuse_record;
  table.free_pinned = &free_pinned;
  when_freed = not_ready;
  EXPECT_THROW(order_behind(table, busy, {}, 20'000'000), std::runtime_error);
  EXPECT_EQ(when_freed, 0) << "the delay would write its stamps to memory that was freed";
  EXPECT_EQ(real->stream_destroy(busy), 0);
}

}  // namespace
}  // namespace dlbench::device
