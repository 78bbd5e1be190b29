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

/// Calibrates, times and counts blocks of calls of one exchange.
class TimedBlocks {
 public:
  explicit TimedBlocks(ExchangeCall& call) : call_(call) {}

  /// Chooses the number of calls that fill a round of `order.round_ns`, for each clock. Throws
  /// Failure if a call raises.
  void calibrate(const Order& order);

  /// Times one block after `prelude` untimed calls. Throws Failure if a call raises.
  measure::Reading round(const std::string& clock, std::uint64_t iterations, std::uint64_t prelude);

  /// Runs `iterations` calls under callgrind after `prelude` uncounted ones. With `names`, each
  /// Python function runs below its own `dlbench_frame`, and `names` receives the functions. Throws
  /// Failure.
  void count(const std::string& clock, std::uint64_t iterations, std::uint64_t prelude,
             std::vector<FrameNode>* names);

  /// A block of that clock, to be run by the caller. Valid as long as this object.
  Block block(const std::string& clock);
  /// Waits for the work that a block of bare calls started.
  void drain();

  /// The number of calls in a round of the clock that was calibrated.
  std::uint64_t calibrated() const { return calibrated_; }
  const std::map<std::string, std::uint64_t>& iterations() const { return iterations_; }
  /// The requested clocks that do not apply, with the reason.
  const std::map<std::string, std::string>& without() const { return without_; }
  /// The step of the timer of the clock `device`, in ns; none without that clock.
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
