#pragma once

#include <optional>
#include <vector>

#include "device/table.hpp"
#include "sync/queue.hpp"
#include "sync/streams.hpp"
#include "worker/proxy/split_exchange.hpp"
#include "worker/sync/busy.hpp"
#include "worker/sync/sync_libraries.hpp"

namespace dlbench::worker {

/// Where the result of an exchange is read; see Ordering::reads_on.
enum class ReadOn { own, legacy, per_thread, work, host };

/// The streams of an exchange on a device with a table. `on_stream` sets the stream of each
/// library. A consumer without `on_stream` works on the stream that its `stream` names, or reads
/// with its `snapshot`. A producer without `on_stream` works on its own stream: its `compute_from`
/// puts work there behind dlbench's delay, or its `busy` fills it.
class TrialStreams {
 public:
  /// Throws Failure.
  TrialStreams(const SyncLibraries& libraries, const device::Table& table);

  sync::Streams& streams() { return streams_; }
  /// Does dlbench fill the producer's stream? Otherwise the library does.
  bool is_filled_here() const { return can_set_stream(libraries_.producer); }
  /// Puts {delay, new content} on the library's own stream. Throws Failure.
  BusyArray make_busy(sync::Ns delay);
  sync::Content content(unsigned word) const;
  sync::Words& words() { return words_; }
  /// The array of the native producer that `make_busy` uses; null without one. Borrowed.
  PyObject* source() const { return source_ ? source_->array.get() : nullptr; }
  device::Address source_word() const { return source_ ? source_->word : 0; }

  /// Makes the stream of the producer, or of the consumer, its current one until the end of the
  /// scope.
  OnStream producing() const;
  OnStream consuming(const Ref& stream) const;

  /// From now on the producer works on the consumer's stream, if its stream can be set.
  void produce_on_consumers_stream() { producer_ = own(); }

  /// The stream that the consumer reads on, and another stream, as Python ints. The former is empty
  /// if it has no name, the latter if the device has none.
  Ref own() const {
    return reads_by_snapshot(libraries_.consumer) ? Ref() : Ref::borrow(consumer_.get());
  }
  Ref foreign() const;

 private:
  /// An array of the native producer, which is complete after dlbench's delay.
  struct Source {
    Ref array;
    device::Address word = 0;         // its last element
    device::Stream stream = nullptr;  // the native producer's
  };
  Source make_source() const;
  void find_concurrent_with_library();

  const SyncLibraries& libraries_;
  LastNonzero place_;
  sync::Words words_;
  std::optional<Source> source_;
  Ref consumer_;  // the stream that its adapter names, otherwise dlbench's
  sync::Streams streams_;
  Ref producer_;
};

/// A queue on such streams. dlbench submits reads, and delays if it fills the producer's stream;
/// the libraries only export and import.
class StreamQueue {
 public:
  /// Throws Failure.
  StreamQueue(const SyncLibraries& libraries, SplitExchange& split, TrialStreams& streams);
  StreamQueue(const StreamQueue&) = delete;
  StreamQueue& operator=(const StreamQueue&) = delete;
  ~StreamQueue() { split_.end(); }

  /// Reads there from now on. `is_current`: the consumer works on that stream, too. Throws Failure.
  void read_on(ReadOn where, bool is_current = false);

  /// The exchange, or an export to the CPU where the host reads. Valid as long as this object.
  sync::Queue queue();

  /// The first exported array, made on the producer's stream; null if the library fills that
  /// stream. Borrowed.
  PyObject* array() const { return array_.get(); }

 private:
  Ref make() const;
  device::Address word_of(const Ref& array) const;
  device::Address result_word() const;
  PyObject* shown() const { return trial_.is_filled_here() ? array_.get() : busy_.shown(); }
  device::Stream work_stream();
  void export_to_host();
  unsigned word_on_host() const;
  void begin();
  void arm(sync::Ns delay, sync::Ns decoy);
  void export_array();
  void import_array();
  bool is_independent(sync::Ns delay);
  bool is_snapshot_independent(sync::Ns delay);
  sync::Content read();
  sync::Content read_snapshot(const Ref& result);
  void slow_read(sync::Ns delay);
  void drop();
  bool reuse();
  void settle();

  const SyncLibraries& libraries_;
  SplitExchange& split_;
  TrialStreams& trial_;
  sync::Streams& streams_;
  LastNonzero place_;
  BusyArray busy_;         // if the library fills its stream
  Ref array_;              // if dlbench fills the stream
  std::vector<Ref> next_;  // the producer's arrays after the first one was dropped
  Ref result_;
  Ref probe_;  // an import without pending work, for a consumer that reads by `snapshot`
  device::Address word_ = 0;
  bool reading_ = false;
  ReadOn where_ = ReadOn::own;
  Ref consuming_;  // the consumer's current stream
};

}  // namespace dlbench::worker
