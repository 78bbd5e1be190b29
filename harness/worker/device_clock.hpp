#pragma once

#include <optional>
#include <string>

#include "measure/round.hpp"
#include "worker/devices.hpp"

namespace dlbench::worker {

/// What an exchange costs on the device's own clock: the time between two events on the consumer's
/// stream, around what a row of exchanges puts there. A delay before them holds the stream until
/// the host is done, so that no gap is the host's. On a consumer that waits for its own stream the
/// host cannot be ahead, and there is no such time.
class DeviceClock {
 public:
  /// Throws Failure.
  DeviceClock(const DeviceAt& at, device::Stream stream);
  DeviceClock(const DeviceClock&) = delete;
  DeviceClock& operator=(const DeviceClock&) = delete;
  ~DeviceClock();

  /// Chooses how many exchanges fit into a delay, each taking the host `call_ns`, at most
  /// `most`. Throws Failure: unsupported where the host cannot be ahead.
  std::uint64_t calibrate(measure::Body body, double call_ns, std::uint64_t most);

  /// A row that the host was not ahead of is taken again; where that does not help, the reading is
  /// `behind`. Throws Failure.
  measure::Reading round(measure::Body body, std::uint64_t iterations);

 private:
  struct Taken {
    measure::Reading reading;
    bool ahead = false;  ///< the host was done before the device began
  };
  Taken take(measure::Body body, std::uint64_t iterations);

  DeviceAt at_;
  device::Stream stream_;
  device::Event begin_ = nullptr;
  device::Event end_ = nullptr;
  double hold_ns_ = 0;
};

}  // namespace dlbench::worker
