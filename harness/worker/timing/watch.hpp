#pragma once

namespace dlbench::worker {

/// The disturbances of the thread and its core during a round.
struct Disturbance {
  bool moved = false;  ///< it ended on another core than that on which it began
  long preempted = 0;  ///< number of times that the kernel gave the core to another thread
  /// The longer time of a fixed computation right before and right after the round, which shows how
  /// much of the core the thread had.
  double canary_ns = 0;
};

/// Reads its values before and after a round, not inside it.
class Watch {
 public:
  Watch();
  Disturbance end() const;

 private:
  double canary_ns_;
  int core_;
  long preempted_;
};

}  // namespace dlbench::worker
