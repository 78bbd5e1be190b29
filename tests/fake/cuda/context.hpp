#pragma once

namespace dlbench::fake::cuda {

/// A device's primary context: there are no others.
struct Context {
  int device = 0;
  int retained = 0;
};

/// This thread's; nullptr: none.
Context* current();

}  // namespace dlbench::fake::cuda
