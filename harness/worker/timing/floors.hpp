#pragma once

namespace dlbench::worker {

/// The overhead floors of this worker, in ns: the empty loop, a reading of the clock, a vectorcall
/// of an empty C function, and the same through a proxy's `__dlpack__`.
struct WorkerFloors {
  double empty_ns = 0;
  double clock_ns = 0;
  double call_ns = 0;
  double proxy_ns = 0;
};

/// Each is the minimum over several blocks. Throws Failure only if no memory is left.
WorkerFloors measure_floors();

}  // namespace dlbench::worker
