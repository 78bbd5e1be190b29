#pragma once

#include "sync/queue.hpp"
#include "worker/proxy/split_exchange.hpp"
#include "worker/sync/busy.hpp"

namespace dlbench::worker {

/// A queue that only its library can fill: arrays of the producer's `busy`, whose memory a host
/// thread may look at.
class LibraryQueue {
 public:
  /// `producer_stream`: what the producer works on, where not its own; may be empty. Throws
  /// Failure.
  LibraryQueue(const Ends& ends, SplitExchange& split, Ref producer_stream);
  LibraryQueue(const LibraryQueue&) = delete;
  LibraryQueue& operator=(const LibraryQueue&) = delete;
  ~LibraryQueue() { settle(); }

  /// Valid as long as this.
  sync::Queue queue();

 private:
  void arm(sync::Ns delay);
  sync::Content peek() const;
  sync::Content read();
  void settle();

  const Ends& ends_;
  SplitExchange& split_;
  Ref stream_;
  Place place_;
  BusyArray busy_;
  Ref result_, copy_;
};

}  // namespace dlbench::worker
