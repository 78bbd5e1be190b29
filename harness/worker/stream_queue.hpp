#pragma once

#include "device/table.hpp"
#include "sync/queue.hpp"
#include "sync/streams.hpp"
#include "worker/ends.hpp"
#include "worker/handing.hpp"

namespace dlbench::worker {

/// A queue on a device with a table: delays, looks and reads are put on its streams from here, the
/// libraries only hand the array over, each on a stream that it was told by `on_stream`, or, a
/// consumer whose file has no such function, on the one that its `stream` names.
class StreamQueue {
 public:
  /// Throws Failure.
  StreamQueue(const Ends& ends, Handing& handing, const device::Table& table);
  StreamQueue(const StreamQueue&) = delete;
  StreamQueue& operator=(const StreamQueue&) = delete;
  ~StreamQueue();

  /// Valid as long as this.
  sync::Queue queue();

  /// Borrowed: what is handed over first, made on the producer's stream.
  PyObject* array() const { return array_.get(); }

  /// The stream that the consumer reads on, and one that it does not, as Python ints.
  Ref own() const { return Ref::borrow(consumer_stream_.get()); }
  Ref foreign() const { return handle(streams_.bystander()); }

 private:
  static Ref handle(device::Stream stream);
  void require_streams();
  Ref make() const;
  device::Address word_of(const Ref& array) const;
  device::Address result_word() const;
  void begin();
  void give();
  void take();
  sync::Content content(unsigned word) const;
  void drop();
  bool reuse();

  const Ends& ends_;
  Handing& handing_;
  sync::Streams streams_;
  Ref producer_stream_, consumer_stream_;
  Place place_;
  sync::Words words_;
  Ref array_, next_, result_;
  device::Address word_ = 0;
  bool reading_ = false;
};

}  // namespace dlbench::worker
