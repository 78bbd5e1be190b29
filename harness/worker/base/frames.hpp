#pragma once

#include <string>
#include <vector>

#include "worker/base/py.hpp"

namespace dlbench::worker {

/// One Python function and its call site: a node of the call tree.
struct FrameNode {
  int parent = -1;       ///< index of the calling Python function; -1: called from C
  std::string function;  ///< qualified name, as "Tensor.__dlpack_device__"
  std::string file;
};

/// While this object lives, each Python function that this thread enters runs below its own C++
/// function, `dlbench_frame<INDEX>`, so that a native profiler can distinguish them. The
/// interpreter then makes a C call for every Python call, which adds a few dozen instructions.
/// Functions beyond the first `kMost` count as part of their caller.
class Frames {
 public:
  static constexpr int kMost = 256;

  /// Throws Failure on CPython 3.10 and on a free-threaded Python.
  Frames();
  ~Frames();
  Frames(const Frames&) = delete;
  Frames& operator=(const Frames&) = delete;

  /// The functions entered so far, by index.
  static std::vector<FrameNode> observed();
};

}  // namespace dlbench::worker
