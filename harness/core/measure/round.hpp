#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace dlbench::measure {

/// The code to time: `run` repeats it `times` times and returns the number of completed
/// repetitions. A number below `times` means that the library raised, and the reading is invalid.
/// The body contains the loop, because an indirect call for each iteration costs 5 % of the
/// cheapest exchange.
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

  // Only on a device's clock.
  std::optional<double> empty_ns{};  ///< time of an empty row, which is subtracted from this one
  double spent_ns = 0;  ///< wall time of the whole round, including the delays that hold the stream
};

/// Runs one block in Google Benchmark's loop: a fixed number of iterations, real time, one
/// repetition. About 3 us of bookkeeping happen outside the timed part. Not reentrant.
Reading round(Body body, std::uint64_t iterations);

/// Runs one block of `iterations` iterations. Returns its wall time in ns, or nothing where the
/// body stopped the block.
using Block = std::function<std::optional<double>(std::uint64_t iterations)>;

/// Returns the number of iterations that fill `target_ns`, from 1 to `most`; 0 where the body
/// stopped. Two readings in a row must be long enough, so that one preempted reading does not end
/// the search.
std::uint64_t calibrate(const Block& block, double target_ns, std::uint64_t most);
std::uint64_t calibrate(Body body, double target_ns, std::uint64_t most);

/// The overhead of the instrument in ns per iteration: of the empty loop, and of one reading of the
/// clock.
struct Floors {
  double empty_ns = 0;
  double clock_ns = 0;
};
Floors floors();

}  // namespace dlbench::measure
