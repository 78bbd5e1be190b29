#pragma once

#include <string>
#include <vector>

#include "worker/base/py.hpp"

namespace dlbench::worker {

/// One Python function in the place from which it is called: a node of the tree of calls.
struct FrameNode {
  int parent = -1;       ///< index of the calling Python function; -1: called from C
  std::string function;  ///< qualified name, as "Tensor.__dlpack_device__"
  std::string file;
};

/// While it lives, each Python function that this thread enters runs below a C++ function of its
/// own, `dlbench_frame<INDEX>`, so that a profiler of native code can tell them apart. The
/// interpreter then makes a C call for every Python call, which costs a few dozen instructions
/// more. Functions beyond the first `kMost` count as part of their caller.
class Frames {
 public:
  static constexpr int kMost = 256;

  /// Throws Failure where this interpreter has no hook for it (CPython 3.11 and newer have).
  Frames();
  ~Frames();
  Frames(const Frames&) = delete;
  Frames& operator=(const Frames&) = delete;

  /// What has been entered so far, by index.
  static std::vector<FrameNode> seen();
};

}  // namespace dlbench::worker
