#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "fleet/couple.hpp"

namespace dlbench::fleet {

/// Imports couples batch by batch, several at a time; measures each batch with all but one worker
/// stopped; keeps the workers for refinement as long as memory lasts, the host's and the devices'.
class Schedule {
 public:
  explicit Schedule(Context& context);

  /// Until all cells are settled, the budget is used up (those left stay open), or Stopped.
  void run();

  /// After Stopped: ends all workers and settles what has enough rounds.
  void abandon();

 private:
  using Couples = std::vector<std::unique_ptr<CoupleRun>>;

  void import_batch(std::size_t size);
  std::unique_ptr<CoupleRun> next_needed(int replica);
  void wait_for_imports(const Couples& importing);
  void retire(Couples& couples);
  void requeue_dead(Couples& couples);
  void measure_batch();
  void finish_parked();
  bool is_memory_short() const;
  bool is_device_short(const CoupleRun& couple) const;
  bool fits_beside_batch(const CoupleRun& next) const;
  double refinement_seconds() const;

  Context& context_;
  std::deque<Job> queue_;
  Couples importing_, batch_, parked_;
  bool is_device_full_ = false;  ///< a worker had to go since another would not fit beside it
  double for_coarse_ = 0;        ///< seconds in imports and first rounds so far
  std::size_t coarse_ = 0;       ///< couples that had them
};

}  // namespace dlbench::fleet
