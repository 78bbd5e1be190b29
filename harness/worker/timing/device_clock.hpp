#pragma once

#include "measure/round.hpp"
#include "worker/library/devices.hpp"

namespace dlbench::worker {

/// What an exchange costs on the device's own clock: the time between two events on the consumer's
/// stream, around what a row of exchanges puts there, less the time of an empty row. A delay before
/// them holds the stream until the host is done, so that no gap is the host's. On a consumer that
/// waits for its own stream the host cannot be ahead, and there is no such time.
class DeviceClock {
 public:
  /// Throws Failure.
  DeviceClock(const DeviceAt& at, device::Stream stream);

  /// Chooses how many exchanges fit into a delay, each taking the host `call_ns`, at most
  /// `most`. Throws Failure: unsupported where the host cannot be ahead.
  std::uint64_t calibrate(measure::Body body, double call_ns, std::uint64_t most);

  /// An empty row and a row of exchanges; the reading is the difference, below zero where the timer
  /// cannot tell them apart. Each is taken again where the host was not ahead; where that does not
  /// help, the reading is `behind` and not a time of the device. Throws Failure.
  measure::Reading round(measure::Body body, std::uint64_t iterations);

  /// The step of the device's timer: the smallest difference between two elapsed times. Known from
  /// calibrate() on.
  double step_ns() const { return step_ns_; }

 private:
  struct Row {
    double ns = 0;       ///< between the events, of the whole row
    double cpu_ns = 0;   ///< of the process, while the host put it on the stream
    bool ahead = false;  ///< the host was done before the device began
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
