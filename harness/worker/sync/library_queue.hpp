#pragma once

#include "sync/queue.hpp"
#include "worker/proxy/split_exchange.hpp"
#include "worker/sync/busy.hpp"

namespace dlbench::worker {

/// A queue that only the producer's library can fill, with arrays of its `busy`. The host can read
/// their memory.
class LibraryQueue {
 public:
  /// `producer_stream`: the stream of the producer's work; empty for its own. Throws Failure.
  LibraryQueue(const SyncLibraries& libraries, SplitExchange& split, Ref producer_stream);
  LibraryQueue(const LibraryQueue&) = delete;
  LibraryQueue& operator=(const LibraryQueue&) = delete;
  ~LibraryQueue() { settle(); }

  /// Valid as long as this object.
  sync::Queue queue();

 private:
  void arm(sync::Ns delay);
  sync::Content peek() const;
  sync::Content read();
  void settle();

  const SyncLibraries& libraries_;
  SplitExchange& split_;
  Ref stream_;
  LastNonzero place_;
  BusyArray busy_;
  Ref result_, copy_;
};

}  // namespace dlbench::worker
