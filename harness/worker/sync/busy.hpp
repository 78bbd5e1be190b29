#pragma once

#include "sync/queue.hpp"
#include "worker/sync/sync_libraries.hpp"

namespace dlbench::worker {

/// An array whose content is still being computed, made by `busy` or `compute_from` of the
/// producer's adapter.
struct BusyArray {
  Ref array;
  std::uintptr_t address = 0;  ///< of its first element
  Ref exported;  ///< the object of EXPORTS that is passed to the consumer; mostly empty

  PyObject* shown() const { return exported ? exported.get() : array.get(); }
};

bool has_busy(const Library& producer);

/// `stream`: the stream of the producer's work; empty for its own. Throws Failure.
BusyArray make_busy(const SyncLibraries& libraries, const Ref& stream, sync::Ns delay);

/// An array that the library computes from `source` on its own stream. Throws Failure.
BusyArray compute_from(const SyncLibraries& libraries, const Ref& source);

/// Waits with the library's own `ready`, if it has one. Throws Failure.
void wait_for(const Library& library, const Ref& array);

}  // namespace dlbench::worker
