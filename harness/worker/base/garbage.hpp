#pragma once

namespace dlbench::worker {

/// Disables Python's garbage collector, so that it does not run within a block, and freezes all
/// present objects: scanning all objects of torch or TensorFlow takes 100 ms. Cycles that imports
/// left are frozen too: those of twelve libraries are 11,000 objects, and freeing them returns no
/// memory that can be measured.
void stop_garbage_collector();

/// Frees all reference cycles and freezes the remaining objects: modules that libraries import
/// late, and compiled code, take as long to scan as the others. Call it while no exchange is
/// prepared: a cycle that forms later from frozen objects is never freed.
void freeze_survivors();

/// Frees reference cycles that a block left. Call it between blocks.
void collect_garbage();

}  // namespace dlbench::worker
