#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/table.hpp"

/// What a device shows before any library uses it: the step of its timer, the time between two
/// events with nothing between them, and which of its streams run beside each other. The caller has
/// entered the device. Each function throws std::runtime_error with the driver's own line.
namespace dlbench::device {

/// Differences between neighboring readings of the device's timer, in ns: each is one step, or
/// several where one reading takes longer than a step.
std::vector<std::int64_t> measure_timer_steps(const Table& table, unsigned count);

/// Times between two events with nothing between them, in ns. With `hold_ns` a delay holds the
/// stream until the host has put all events there, so that no gap is the host's.
std::vector<double> measure_empty_events(const Table& table, unsigned count, std::int64_t hold_ns);

/// What ran beside a stream that was kept busy, and what ran after it.
struct StreamOrder {
  /// The busy stream was still busy when the host had put everything on the device: without that
  /// the rest means nothing.
  bool was_busy = false;
  /// The negative control: work behind the delay, on the busy stream itself, ran after the delay.
  bool was_ordered_on_itself = false;
  /// Of each stream, the busy one included: its work ran while the busy stream was busy.
  std::vector<bool> ran_beside;
};

/// Keeps `busy` busy for twice `delay_ns`, puts work on each of `streams`, and waits for all of
/// them.
StreamOrder order_behind(const Table& table, Stream busy, std::span<const Stream> streams,
                         std::int64_t delay_ns);

/// Keeps each of `streams` streams busy in turn, as order_behind() does. The first is the default
/// stream; the others do not wait for it by their flags.
std::vector<StreamOrder> order_streams(const Table& table, unsigned streams, std::int64_t delay_ns);

}  // namespace dlbench::device
