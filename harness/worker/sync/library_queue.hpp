#pragma once

#include "sync/queue.hpp"
#include "worker/proxy/split_exchange.hpp"
#include "worker/sync/busy.hpp"

namespace dlbench::worker {

/// A queue that only its library can fill: arrays of the producer's `busy`, whose memory a host
/// thread may read.
class LibraryQueue {
 public:
  /// `producer_stream`: the stream of the producer's work, if not its own; may be empty. Throws
  /// Failure.
  LibraryQueue(const Ends& ends, SplitExchange& split, Ref producer_stream);
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

  const Ends& ends_;
  SplitExchange& split_;
  Ref stream_;
  Place place_;
  BusyArray busy_;
  Ref result_, copy_;
};

}  // namespace dlbench::worker
