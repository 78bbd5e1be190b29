#pragma once

namespace dlbench::worker {

/// Switches Python's collector off, so that it does not run within a block, and moves all present
/// objects out of its reach: scanning all objects of torch or TensorFlow takes 100 ms.
void stop_garbage_collector();

/// Frees the reference cycles that blocks left. Call it between blocks.
void collect_garbage();

}  // namespace dlbench::worker
