#pragma once

namespace dlbench::worker {

/// Switches Python's collector off, so that none of its runs falls into a block, and takes all that
/// is there now out of its sight: a look at all that torch or TensorFlow hold takes 100 ms.
void stop_garbage_collector();

/// Frees the cycles that blocks left behind. Between blocks.
void collect_garbage();

}  // namespace dlbench::worker
