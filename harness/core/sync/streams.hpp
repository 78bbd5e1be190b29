#pragma once

#include <initializer_list>
#include <optional>
#include <vector>

#include "device/owners.hpp"
#include "sync/queue.hpp"

namespace dlbench::sync {

/// The values of the last word of an array.
struct Words {
  unsigned before = 1, after = 2;
};

/// Four streams of a device for a `Queue`: the producer's, the consumer's, an unrelated stream's,
/// and dlbench's own. They have no implicit order. The constructor checks that each runs
/// concurrently with the others, because streams that share a hardware queue are ordered. Device
/// errors are thrown as std::runtime_error.
class Streams {
 public:
  /// `host_memory`: the host can read the device memory directly. `consumer`: the consumer's own
  /// stream.
  Streams(const device::Table& table, bool host_memory,
          std::optional<device::Stream> consumer = {});
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  device::Stream producer() const { return producer_; }
  device::Stream consumer() const { return consumer_; }
  device::Stream unrelated_stream() const { return unrelated_stream_; }
  /// Do the streams of producer, consumer and dlbench's reads run concurrently? Otherwise trials
  /// are inconclusive.
  bool are_independent() const { return are_independent_; }
  /// Does the unrelated stream run concurrently with all of them?
  bool has_unrelated_stream() const { return has_unrelated_stream_; }
  /// Chooses another stream for dlbench's reads, or for the consumer, because only a trial shows
  /// whether a stream runs concurrently with a library's own.
  void replace_streams();
  void replace_consumer();
  /// Makes the default stream an unrelated stream if it runs concurrently with the consumer's,
  /// because a library that waits for a wrong stream usually waits for the default one. Call it
  /// only if nothing else in the process uses the default stream.
  void use_default_as_unrelated_stream();

  /// Reads on this stream instead of the consumer's; without one, on the consumer's again.
  void read_on(std::optional<device::Stream> stream) { reading_ = stream; }

  /// These implement the functions of Queue for the word at `word`.
  void arm(device::Address word, const Words& words, Ns delay, Ns decoy);
  /// The part of arm() for the unrelated streams.
  void hold_unrelated_streams(Ns decoy);
  unsigned peek(device::Address word);
  unsigned read(device::Address word);
  bool is_independent(device::Address word, const Words& words, Ns delay);
  bool decoy() const;
  void settle();
  std::optional<double> delayed() const;
  std::optional<double> gap() const;
  /// Submits {delay, read} to the consumer's stream; fetch() returns the value that was read.
  void slow_read(device::Address word, Ns delay);
  unsigned fetch();
  /// Stores immediately, concurrently with all queues.
  void store(device::Address word, unsigned value);
  /// Stores on the producer's stream and waits for that stream alone.
  void store_as_producer(device::Address word, unsigned value);

  /// Makes the stream `then` wait for the present work of `first`.
  void order(device::Stream first, device::Stream then);
  void synchronize(device::Stream stream);

  const device::Table& table() const { return table_; }

 private:
  /// Device times in ns: begin and end of the producer's delay, of the read, and of the unrelated
  /// streams' delays.
  enum Stamp { kBegin, kEnd, kRead, kReadEnd, kDecoy, kDecoyEnd, kDefault, kDefaultEnd, kStamps };
  struct Shared {
    unsigned observed[2];  // by peek, read
    std::int64_t stamps[kStamps];
  };
  void check(device::Code code, const char* what) const;
  device::Stream create();
  bool runs_concurrently(device::Stream other, device::Stream busy);
  bool find_concurrent(device::Stream& found, std::initializer_list<device::Stream> others);
  void put_decoy(device::Stream stream, Ns delay, Stamp stamp);
  bool lasts(Stamp end) const;
  void copy(device::Address word, unsigned& to, device::Stream stream);
  device::Address address(const void* host) const;
  device::Stream reader() const { return reading_.value_or(consumer_); }
  // A default stream that is read on has no unrelated work.
  bool has_decoy_on_default() const { return is_default_ours_ && !reading_; }

  const device::Table& table_;
  bool host_memory_;
  std::optional<device::Stream> reading_;
  bool is_default_ours_ = false, are_independent_ = false, has_unrelated_stream_ = false;
  device::OwnEvent event_;
  device::OwnPinned pinned_;
  Shared* shared_ = nullptr;  // in pinned_
  // Kept until the end, because a new stream would reuse the queue of a freed one.
  std::vector<device::OwnStream> made_;
  device::Stream producer_ = nullptr, consumer_ = nullptr, unrelated_stream_ = nullptr,
                 ours_ = nullptr;
};

}  // namespace dlbench::sync
