#pragma once

#include <cstdint>

namespace dlbench::measure {

/// What is timed: called `iterations` times in a row. Returns false to end the block early (an
/// exception in the library); the reading is then not valid. A plain function pointer, so that the
/// loop holds one indirect call and nothing else.
struct Body {
  bool (*call)(void* self) = nullptr;
  void* self = nullptr;
};

/// One timed block.
struct Reading {
  double ns = 0;       ///< mean wall time of an iteration
  double cpu_ns = 0;   ///< mean CPU time of the process
  bool valid = false;  ///< false: the body stopped the block
};

/// One block on Google Benchmark's loop: fixed iterations, real time, one repetition. About 3 us of
/// bookkeeping outside the timed part. Not reentrant.
Reading round(Body body, std::uint64_t iterations);

/// The number of iterations that fills `target_ns`, at least 1 and at most `most`. Grows until two
/// readings in a row agree that the block is long enough: a single preempted one must not end it.
/// 0 where the body stopped.
std::uint64_t calibrate(Body body, double target_ns, std::uint64_t most);

/// The instrument's own cost, in ns an iteration: the empty loop, and one reading of the clock.
struct Floors {
  double empty_ns = 0;
  double clock_ns = 0;
};
Floors floors();

}  // namespace dlbench::measure
