#pragma once

#include "sync/queue.hpp"
#include "worker/sync/ends.hpp"

namespace dlbench::worker {

/// An array that its library still computes: zeros that become the content after a delay, made by
/// `busy` of the producer's adapter.
struct BusyArray {
  Ref array;
  std::uintptr_t address = 0;  ///< of its first element
  Ref exported;                ///< the object of EXPORTS that the consumer gets; mostly empty

  PyObject* shown() const { return exported ? exported.get() : array.get(); }
};

bool has_busy(const Library& producer);

/// `stream`: the stream of the producer's work, if not its own; may be empty. Throws Failure.
BusyArray make_busy(const Ends& ends, const Ref& stream, sync::Ns delay);

/// Waits with the library's own `ready`, where it has one. Throws Failure.
void wait_for(const Library& library, const Ref& array);

}  // namespace dlbench::worker
