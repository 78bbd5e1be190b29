#pragma once

namespace dlbench::worker {

/// Disables Python's garbage collector, so that it does not run within a block, and freezes all
/// present objects: scanning all objects of torch or TensorFlow takes 100 ms.
void stop_garbage_collector();

/// Frees reference cycles that a block left. Call it between blocks.
void collect_garbage();

}  // namespace dlbench::worker
