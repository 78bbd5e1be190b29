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

/// Blocks of calls of one exchange: how many make one, timing one, counting one.
class TimedBlocks {
 public:
  explicit TimedBlocks(ExchangeCall& call) : call_(call) {}

  /// Chooses how many calls fill a round of `order.round_ns`, for each of its clocks. Throws
  /// Failure where a call raises.
  void calibrate(const Order& order);

  /// One timed block after `prelude` untimed calls. Throws Failure where a call raises.
  measure::Reading round(const std::string& clock, std::uint64_t iterations, std::uint64_t prelude);

  /// As many calls under callgrind's eyes, after `prelude` untimed ones. With `names`, which then
  /// gets the Python functions that were entered, each of those runs as a `dlbench_frame`. Throws
  /// Failure.
  void count(const std::string& clock, std::uint64_t iterations, std::uint64_t prelude,
             std::vector<FrameNode>* names);

  /// A block on that clock, which the caller runs. Valid as long as this.
  Block block(const std::string& clock);
  /// Waits for what a block of bare calls left behind.
  void drain();

  /// So many calls fill a round, on whatever clock.
  std::uint64_t calibrated() const { return calibrated_; }
  const std::map<std::string, std::uint64_t>& iterations() const { return iterations_; }
  /// Clocks that were ordered and have no number, with the reason.
  const std::map<std::string, std::string>& without() const { return without_; }
  /// The step of the timer behind the clock `device`, in ns; nothing where there is no such clock.
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
