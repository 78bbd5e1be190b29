#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "fleet/pair.hpp"

namespace dlbench::fleet {

/// Imports pairs batch by batch, several at a time; measures each batch with all but one worker
/// stopped; keeps the workers for refinement as long as memory lasts, the host's and the devices'.
class Schedule {
 public:
  explicit Schedule(Context& context);

  /// Until all cells are recorded, the budget is used up (those left stay open), or Stopped.
  void run();

  /// After Stopped: ends all workers and records what has enough rounds.
  void abandon();

 private:
  using Pairs = std::vector<std::unique_ptr<PairRun>>;

  void import_batch(std::size_t size);
  std::unique_ptr<PairRun> next_needed(int replica);
  void wait_for_imports(const Pairs& importing);
  void retire(Pairs& pairs);
  void requeue_dead(Pairs& pairs);
  void measure_batch();
  void finish_parked();
  bool is_memory_short() const;
  bool is_device_short(const PairRun& pair) const;
  bool fits_beside_batch(const PairRun& next) const;
  double refinement_seconds() const;

  Context& context_;
  std::deque<Job> queue_;
  Pairs importing_, batch_, parked_;
  bool is_device_full_ = false;  ///< a worker had to go since another would not fit beside it
  double for_coarse_ = 0;        ///< seconds in imports and first rounds so far
  std::size_t coarse_ = 0;       ///< pairs that had them
};

}  // namespace dlbench::fleet
