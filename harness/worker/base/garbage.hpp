#pragma once

namespace dlbench::worker {

/// Disables Python's garbage collector, so that it does not run within a block, and freezes all
/// objects, because scanning those of torch or TensorFlow takes 100 ms. Cycles that imports left
/// are also frozen; freeing them returns no measurable memory.
void stop_garbage_collector();

/// Frees all reference cycles and freezes the remaining objects, such as modules that libraries
/// import late. Call it while no exchange is prepared, because a cycle that forms later from frozen
/// objects is never freed.
void freeze_survivors();

/// Frees reference cycles that a block left. Call it between blocks.
void collect_garbage();

}  // namespace dlbench::worker
