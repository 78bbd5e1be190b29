#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/table.hpp"

/// Properties of a device that no library affects: the step of its timer, the time between two
/// adjacent events, and which of its streams run concurrently. The caller has entered the device.
/// Each function throws std::runtime_error with the driver's own message.
namespace dlbench::device {

/// Differences between consecutive readings of the device's timer, in ns. Each is one step, or
/// several where a reading takes longer than a step.
std::vector<std::int64_t> measure_timer_steps(const Table& table, unsigned count);

/// Times between two adjacent events, in ns. With `hold_ns` a delay holds the stream until the host
/// has submitted all events, so that no gap is caused by the host.
std::vector<double> measure_empty_events(const Table& table, unsigned count, std::int64_t hold_ns);

/// Which work ran concurrently with a busy stream, and which ran after it.
struct StreamOrder {
  /// The busy stream was still busy after the host had submitted everything. Without that the other
  /// fields mean nothing.
  bool was_busy = false;
  /// The negative control: work on the busy stream itself, behind the delay, ran after the delay.
  bool was_ordered_on_itself = false;
  /// For each stream, the busy one included: its work ran while the busy stream was busy.
  std::vector<bool> ran_beside;
};

/// Keeps `busy` busy for twice `delay_ns`, submits work to each of `streams`, and waits for all of
/// them.
StreamOrder order_behind(const Table& table, Stream busy, std::span<const Stream> streams,
                         std::int64_t delay_ns);

/// Keeps each of `streams` streams busy, one after the other, as order_behind() does. The first is
/// the default stream; the others do not wait for it by their flags.
std::vector<StreamOrder> order_streams(const Table& table, unsigned streams, std::int64_t delay_ns);

}  // namespace dlbench::device
