#pragma once

#include <cstdint>
#include <optional>

namespace dlbench::measure {

/// What is timed: `run` does one thing `times` times in a row and returns how often it did. Fewer
/// ends the block (an exception in the library); the reading is then not valid. The loop is the
/// body's own: an indirect call an iteration around it was 5 % of the cheapest exchange.
struct Body {
  std::uint64_t (*run)(void* self, std::uint64_t times) = nullptr;
  void* self = nullptr;
};

/// A body that repeats `once`, a callable that returns whether it could. It must outlive the body.
template <typename Once>
Body body_of(Once& once) {
  return {[](void* self, std::uint64_t times) {
            Once& repeated = *static_cast<Once*>(self);
            for (std::uint64_t done = 0; done < times; ++done) {
              if (!repeated()) [[unlikely]]
                return done;
            }
            return times;
          },
          &once};
}

/// One timed block.
struct Reading {
  double ns = 0;        ///< mean wall time of an iteration
  double cpu_ns = 0;    ///< mean CPU time of the process
  bool valid = false;   ///< false: the body stopped the block
  bool behind = false;  ///< on a device's clock: the device waited for the host

  // On a device's clock alone.
  std::optional<double> empty_ns{};  ///< what an empty row took, which is subtracted from this one
  double spent_ns = 0;               ///< wall time of the round, with all that holds the stream
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
