#pragma once

#include "measure/round.hpp"
#include "worker/library/devices.hpp"

namespace dlbench::worker {

/// Measures an exchange on the device's own clock: the time between two events on the consumer's
/// stream around a row of exchanges, minus the time of an empty row. A delay before the first event
/// keeps the stream busy until the host has submitted the row, so that the host causes no gap. Not
/// possible if the consumer waits for its own stream.
class DeviceClock {
 public:
  /// Throws Failure.
  DeviceClock(const DeviceAt& at, device::Stream stream);

  /// Chooses how many exchanges fit into a delay, at most `most`, if each takes `call_ns` on the
  /// host. Throws Failure unsupported if the host cannot be ahead of the device.
  std::uint64_t calibrate(measure::Body body, double call_ns, std::uint64_t most);

  /// Times an empty row and a row of exchanges. The reading is the difference; it may be negative
  /// if the timer cannot distinguish them. A row is repeated if the host was not ahead; if that
  /// fails again, the reading is marked as `behind`. Throws Failure.
  measure::Reading round(measure::Body body, std::uint64_t iterations);

  /// The step of the device's timer: the smallest difference between two elapsed times. Known after
  /// calibrate().
  double step_ns() const { return step_ns_; }

 private:
  struct Row {
    double ns = 0;       ///< between the events, for the whole row
    double cpu_ns = 0;   ///< of the process while the host submitted the row
    bool ahead = false;  ///< the host had submitted the row before the device began it
  };
  Row row(measure::Body body, std::uint64_t iterations, double hold_ns);
  Row row_ahead(measure::Body body, std::uint64_t iterations, double hold_ns);
  double elapsed_ns() const;
  double measure_step();

  DeviceAt at_;
  device::Stream stream_;
  device::OwnEvent begin_, end_;
  double hold_ns_ = 0;
  double step_ns_ = 0;
};

}  // namespace dlbench::worker
