#pragma once

namespace dlbench::worker {

/// What happened to the thread and its core while a round ran.
struct Disturbance {
  bool moved = false;    ///< it ended on another core than it began on
  long preempted = 0;    ///< how often the kernel gave the core to somebody else
  double canary_ns = 0;  ///< of a fixed piece of arithmetic right after it: the core's speed
};

/// Looks before a round and after it, never inside.
class Watch {
 public:
  Watch();
  Disturbance end() const;

 private:
  int core_;
  long preempted_;
};

}  // namespace dlbench::worker
