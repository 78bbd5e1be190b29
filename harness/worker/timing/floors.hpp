#pragma once

namespace dlbench::worker {

/// What the instrument itself costs in this worker, in ns: the empty loop, a reading of the clock,
/// a vectorcall of a C function that does nothing, and the same through a proxy's `__dlpack__`.
struct WorkerFloors {
  double empty_ns = 0;
  double clock_ns = 0;
  double call_ns = 0;
  double proxy_ns = 0;
};

/// Minimum over several blocks each. Throws Failure only where Python has no memory left.
WorkerFloors measure_floors();

}  // namespace dlbench::worker
