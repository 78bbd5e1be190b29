#include "sync/streams.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "device/sim.hpp"

namespace dlbench::sync {
namespace {

using device::Code;
using device::Event;
using device::Stream;

struct Balance {
  int made = 0, fails_at = 0, held = 0;
};
Balance balance;

template <typename Make>
Code counted(Make make) {
  if (++balance.made == balance.fails_at) return 2;
  const Code code = make();
  if (code == 0) ++balance.held;
  return code;
}

/// The simulated device, which refuses one of the things that it is asked to make.
device::Table refusing() {
  device::Table table = device::sim::table();
  table.stream_create = [](Stream* stream, unsigned flags) {
    return counted([=] { return device::sim::table().stream_create(stream, flags); });
  };
  table.event_create = [](Event* event, unsigned flags) {
    return counted([=] { return device::sim::table().event_create(event, flags); });
  };
  table.allocate_pinned = [](void** begin, std::size_t bytes) {
    return counted([=] { return device::sim::table().allocate_pinned(begin, bytes); });
  };
  table.stream_destroy = [](Stream stream) {
    return --balance.held, device::sim::table().stream_destroy(stream);
  };
  table.event_destroy = [](Event event) {
    return --balance.held, device::sim::table().event_destroy(event);
  };
  table.free_pinned = [](void* begin) {
    return --balance.held, device::sim::table().free_pinned(begin);
  };
  return table;
}

TEST(Streams, NothingIsLeftBehindWhereTheDeviceRefusesOneOfThem) {
  ASSERT_EQ(device::sim::table().enter(0), 0);
  const device::Table table = refusing();
  bool is_refused = true;
  int& fails_at = balance.fails_at;
  for (fails_at = 1; is_refused; ++fails_at) {
    balance.made = 0;
    try {
      const Streams streams(table, true);
      is_refused = false;
    } catch (const std::runtime_error&) {
    }
    EXPECT_EQ(balance.held, 0) << "after the refusal of number " << fails_at;
  }
  EXPECT_GT(fails_at, 6) << "an event, pinned memory and four streams at least";
}

}  // namespace
}  // namespace dlbench::sync
