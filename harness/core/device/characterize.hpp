#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/table.hpp"

/// Measures properties of a device that do not depend on libraries: the step of its timer, the time
/// between two adjacent events, and which of its streams run concurrently. The caller must have
/// entered the device. Each function throws std::runtime_error with the driver's message.
namespace dlbench::device {

/// Differences between consecutive readings of the device's timer, in ns. Each is one step, or
/// several if a reading takes longer than a step.
std::vector<std::int64_t> measure_timer_steps(const Table& table, unsigned count);

/// Times between two adjacent events, in ns. With `hold_ns` a delay keeps the stream busy until the
/// host has submitted all events, so that the host causes no gap.
std::vector<double> measure_empty_events(const Table& table, unsigned count, std::int64_t hold_ns);

/// Which work ran concurrently with a busy stream and which ran after it.
struct StreamOrder {
  /// The busy stream was busy until the host had submitted everything. Otherwise the other fields
  /// have no meaning.
  bool was_busy = false;
  /// The negative control: later work on the busy stream itself ran after the delay.
  bool was_ordered_on_itself = false;
  /// For each stream, including the busy one: its work ran while the busy stream was busy.
  std::vector<bool> ran_beside;
};

/// Keeps `busy` busy for twice `delay_ns`, submits work to each of `streams`, and waits for all of
/// them.
StreamOrder order_behind(const Table& table, Stream busy, std::span<const Stream> streams,
                         std::int64_t delay_ns);

/// Runs order_behind() for each of `streams` streams. The first is the default stream; the flags of
/// the others exclude an implicit wait for it.
std::vector<StreamOrder> order_streams(const Table& table, unsigned streams, std::int64_t delay_ns);

}  // namespace dlbench::device
