#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure/round.hpp"
#include "worker/base/frames.hpp"
#include "worker/exchange/exchange_call.hpp"
#include "worker/timing/block.hpp"
#include "worker/timing/device_clock.hpp"

namespace dlbench::worker {

/// Blocks of calls of one exchange: sets their length, times and counts them.
class TimedBlocks {
 public:
  explicit TimedBlocks(ExchangeCall& call) : call_(call) {}

  /// Chooses how many calls fill a round of `order.round_ns`, for each of its clocks. Throws
  /// Failure where a call raises.
  void calibrate(const Order& order);

  /// One timed block after `prelude` untimed calls. Throws Failure where a call raises.
  measure::Reading round(const std::string& clock, std::uint64_t iterations, std::uint64_t prelude);

  /// Runs as many calls under callgrind, after `prelude` uncounted ones. With `names`, which
  /// receives the Python functions that were entered, each of these runs as a `dlbench_frame`.
  /// Throws Failure.
  void count(const std::string& clock, std::uint64_t iterations, std::uint64_t prelude,
             std::vector<FrameNode>* names);

  /// A block on that clock, for the caller to run. Valid as long as this object.
  Block block(const std::string& clock);
  /// Waits for the work that a block of bare calls left.
  void drain();

  /// Sets the number of calls in a round, for every clock.
  std::uint64_t calibrated() const { return calibrated_; }
  const std::map<std::string, std::uint64_t>& iterations() const { return iterations_; }
  /// The requested clocks that have no number, with the reason.
  const std::map<std::string, std::string>& without() const { return without_; }
  /// The step of the timer behind the clock `device`, in ns; none without such a clock.
  std::optional<double> device_step_ns() const;

 private:
  void prepare_device_clock(const Order& order);
  measure::Reading device_round(measure::Body body, std::uint64_t iterations);

  ExchangeCall& call_;
  std::uint64_t calibrated_ = 0;
  std::map<std::string, std::uint64_t> iterations_;
  std::map<std::string, std::string> without_;
  std::unique_ptr<DeviceClock> device_clock_;
};

}  // namespace dlbench::worker
