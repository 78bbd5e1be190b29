#pragma once

#include "calls.hpp"

namespace dlbench::fake {

/// Where CUDA and HIP differ; each fake driver defines its own.
struct Vendor {
  /// Hardware queues of a device, and the variable by which the vendor's driver is asked for
  /// others; it is read when a process makes its first stream.
  int queues;
  const char* queues_variable;
  /// What a call with a destroyed stream, and a destroyed event's destruction, end with.
  Code destroyed;
  /// What making a context on a device ends with that another process has for itself.
  Code busy;
};

extern const Vendor vendor;

}  // namespace dlbench::fake
