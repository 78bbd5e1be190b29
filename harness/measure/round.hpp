#pragma once

#include <cstdint>
#include <optional>

namespace dlbench::measure {

/// The code to time: `run` repeats it `times` times and returns how often it did. A smaller number
/// ends the block (the library raised an exception) and the reading is invalid. The body contains
/// the loop: an indirect call for each iteration cost 5 % of the cheapest exchange.
struct Body {
  std::uint64_t (*run)(void* self, std::uint64_t times) = nullptr;
  void* self = nullptr;
};

/// A body that repeats `once`, a callable that returns whether it succeeded. `once` must outlive
/// the body.
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
  std::optional<double> empty_ns{};  ///< time of an empty row, which is subtracted from this one
  double spent_ns = 0;  ///< wall time of the whole round, including the delays that hold the stream
};

/// One block on Google Benchmark's loop: fixed iterations, real time, one repetition. About 3 us of
/// bookkeeping outside the timed part. Not reentrant.
Reading round(Body body, std::uint64_t iterations);

/// The number of iterations that fills `target_ns`, at least 1 and at most `most`. It grows until
/// two readings in a row are long enough: a single preempted reading must not end it. Returns 0
/// where the body stopped.
std::uint64_t calibrate(Body body, double target_ns, std::uint64_t most);

/// The instrument's own cost, in ns per iteration: the empty loop, and one reading of the clock.
struct Floors {
  double empty_ns = 0;
  double clock_ns = 0;
};
Floors floors();

}  // namespace dlbench::measure
