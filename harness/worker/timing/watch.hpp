#pragma once

namespace dlbench::worker {

/// Disturbances of the thread and its core during a round.
struct Disturbance {
  bool moved = false;    ///< it ended on another core than it began on
  long preempted = 0;    ///< how often the kernel gave the core to another thread
  double canary_ns = 0;  ///< of a fixed computation right after it: the core's speed
};

/// Reads its values before a round and after it, never inside.
class Watch {
 public:
  Watch();
  Disturbance end() const;

 private:
  int core_;
  long preempted_;
};

}  // namespace dlbench::worker
