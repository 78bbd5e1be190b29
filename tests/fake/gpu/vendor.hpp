#pragma once

#include "calls.hpp"

namespace dlbench::fake {

/// Where CUDA and HIP differ; each fake driver defines its own.
struct Vendor {
  /// Hardware queues of a device, and the variable by which the vendor's driver is asked for
  /// others; it is read when a process makes its first stream.
  int queues;
  const char* queues_variable;
  /// A new stream gets the queue that the fewest streams have, else the next one in turn.
  bool takes_least_used;
  /// What a call with a destroyed stream, and a destroyed event's destruction, end with.
  Code destroyed;
  /// What making a context on a device ends with that another process has for itself.
  Code busy;
  /// What a call with a module that is not loaded ends with.
  Code unloaded;
};

extern const Vendor vendor;

}  // namespace dlbench::fake
