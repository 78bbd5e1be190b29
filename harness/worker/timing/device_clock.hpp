#pragma once

#include "measure/round.hpp"
#include "worker/library/devices.hpp"

namespace dlbench::worker {

/// The cost of an exchange on the device's own clock: the time between two events on the consumer's
/// stream, around the device work of a row of exchanges, less the time of an empty row. A delay
/// before them holds the stream until the host is done, so that no gap is caused by the host. Where
/// a consumer waits for its own stream, the host cannot be ahead, and there is no such time.
class DeviceClock {
 public:
  /// Throws Failure.
  DeviceClock(const DeviceAt& at, device::Stream stream);

  /// Chooses how many exchanges fit into a delay, where each takes the host `call_ns`; at most
  /// `most`. Throws Failure: unsupported where the host cannot be ahead.
  std::uint64_t calibrate(measure::Body body, double call_ns, std::uint64_t most);

  /// Times an empty row and a row of exchanges. The reading is the difference; it is negative where
  /// the timer cannot distinguish them. Each row is repeated where the host was not ahead. Where
  /// that does not help, the reading is `behind` and not a device time. Throws Failure.
  measure::Reading round(measure::Body body, std::uint64_t iterations);

  /// The step of the device's timer: the smallest difference between two elapsed times. Known after
  /// calibrate().
  double step_ns() const { return step_ns_; }

 private:
  struct Row {
    double ns = 0;       ///< between the events, for the whole row
    double cpu_ns = 0;   ///< of the process, while the host submitted the row
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
