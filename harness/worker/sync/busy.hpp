#pragma once

#include "sync/queue.hpp"
#include "worker/sync/ends.hpp"

namespace dlbench::worker {

/// An array that its library still computes: zeros that turn into the content after a delay, by
/// `busy` of the producer's file.
struct BusyArray {
  Ref array;
  std::uintptr_t address = 0;  ///< of its first element
  Ref exported;                ///< what the consumer is shown by EXPORTS; mostly empty

  PyObject* shown() const { return exported ? exported.get() : array.get(); }
};

bool has_busy(const Library& producer);

/// `stream`: what the producer works on, where not its own; may be empty. Throws Failure.
BusyArray make_busy(const Ends& ends, const Ref& stream, sync::Ns delay);

/// Waits by the library's own `ready`, where it has one. Throws Failure.
void wait_for(const Library& library, const Ref& array);

}  // namespace dlbench::worker
