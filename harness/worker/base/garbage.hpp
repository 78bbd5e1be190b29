#pragma once

namespace dlbench::worker {

/// Switches Python's collector off, so that it does not run within a block, and moves all present
/// objects out of its reach: scanning all objects of torch or TensorFlow takes 100 ms.
void stop_garbage_collector();

/// Frees all reference cycles, and moves what is left out of the collector's reach too: what the
/// libraries made since and keep, such as modules and compiled code, takes as long to scan. Call it
/// while no exchange is prepared, since a cycle that forms of these objects later is never freed.
void set_survivors_aside();

/// Frees the reference cycles that blocks left. Call it between blocks.
void collect_garbage();

}  // namespace dlbench::worker
