#pragma once

#include "sync/queue.hpp"
#include "worker/ends.hpp"
#include "worker/handing.hpp"

namespace dlbench::worker {

/// A queue that only its library can fill: arrays of the producer's `busy`, whose memory a host
/// thread may look at.
class LibraryQueue {
 public:
  /// `producer_stream`: what the producer works on, where not its own; may be empty. Throws
  /// Failure.
  LibraryQueue(const Ends& ends, Handing& handing, Ref producer_stream);
  LibraryQueue(const LibraryQueue&) = delete;
  LibraryQueue& operator=(const LibraryQueue&) = delete;
  ~LibraryQueue() { settle(); }

  /// Valid as long as this.
  sync::Queue queue();

  static bool is_possible(const Ends& ends) { return bool(ends.producer.function("busy")); }

 private:
  void arm(sync::Ns delay);
  sync::Content peek() const;
  sync::Content read();
  void settle();
  void wait(const Library& library, const Ref& array) const;

  const Ends& ends_;
  Handing& handing_;
  Ref busy_;
  Ref stream_;
  Place place_;
  Ref array_, shown_, result_, copy_;
  std::uintptr_t address_ = 0;
};

}  // namespace dlbench::worker
