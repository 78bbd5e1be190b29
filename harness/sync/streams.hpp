#pragma once

#include <initializer_list>
#include <optional>
#include <vector>

#include "device/owners.hpp"
#include "sync/queue.hpp"

namespace dlbench::sync {

/// What the word at an array's end may hold.
struct Words {
  unsigned before = 1, after = 2;
};

/// The streams of a device that stand for an exchange's producer and consumer, a bystander, and us:
/// what a `Queue` needs but for the exchange itself. None has implicit edges with the others, and
/// each is seen to run beside the others: a driver has fewer hardware queues than streams, and work
/// on two streams that share one is ordered by chance.
/// What the device refuses is thrown as std::runtime_error.
class Streams {
 public:
  /// `host_memory`: a host thread may look at device memory as it is. `consumer`: the stream that a
  /// consumer brings itself.
  Streams(const device::Table& table, bool host_memory,
          std::optional<device::Stream> consumer = {});
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  device::Stream producer() const { return producer_; }
  device::Stream consumer() const { return consumer_; }
  device::Stream bystander() const { return bystander_; }
  /// Do producer, consumer and our own reads run beside one another? Without that no trial proves
  /// anything.
  bool are_independent() const { return are_independent_; }
  /// Does the bystander run beside them all?
  bool has_bystander() const { return has_bystander_; }
  /// Takes another stream for our own reads, or for the consumer's: beside a library's own stream
  /// only a trial shows whether it runs.
  void replace_ours();
  void replace_consumer();
  /// Takes the default stream for a bystander as well, where the consumer's runs beside it: a
  /// library that forgets which stream it works on waits for that one. Only where nothing else in
  /// the process uses it.
  void take_default_for_bystander();

  /// The parts of a Queue, for the word at `word`.
  void arm(device::Address word, const Words& words, Ns delay, Ns decoy);
  /// The bystanders' part of it.
  void hold_bystanders(Ns decoy);
  unsigned peek(device::Address word);
  unsigned read(device::Address word);
  /// Of `Queue`, as is the next.
  bool is_independent(device::Address word, const Words& words, Ns delay);
  bool decoy() const;
  void settle();
  std::optional<double> delayed() const;
  std::optional<double> gap() const;
  /// {pass `delay`, read} on the consumer's stream; `fetch` tells what it read.
  void slow_read(device::Address word, Ns delay);
  unsigned fetch();
  /// At once, beside all queues.
  void store(device::Address word, unsigned value);
  /// On the producer's stream, and waits for that alone.
  void store_as_producer(device::Address word, unsigned value);

  /// Of the producer's stream: record there, let the other wait.
  void order(device::Stream first, device::Stream then);
  void synchronize(device::Stream stream);

  const device::Table& table() const { return table_; }

 private:
  /// Device times in ns, begin and end each: of the producer's delay, the read, and the delays of
  /// the bystanders.
  enum Stamp { kBegin, kEnd, kRead, kReadEnd, kDecoy, kDecoyEnd, kDefault, kDefaultEnd, kStamps };
  struct Shared {
    unsigned seen[2];  // by peek, read
    std::int64_t stamps[kStamps];
  };
  void check(device::Code code, const char* what) const;
  device::Stream create();
  bool runs_beside(device::Stream other, device::Stream busy);
  bool find_beside(device::Stream& found, std::initializer_list<device::Stream> others);
  void put_decoy(device::Stream stream, Ns delay, Stamp stamp);
  bool lasts(Stamp end) const;
  void copy(device::Address word, unsigned& to, device::Stream stream);
  device::Address address(const void* host) const;

  const device::Table& table_;
  bool host_memory_;
  bool is_default_ours_ = false, are_independent_ = false, has_bystander_ = false;
  device::OwnEvent event_;
  device::OwnPinned pinned_;
  Shared* shared_ = nullptr;             // there
  std::vector<device::OwnStream> made_;  // kept until the end: a freed one's queue would come again
  device::Stream producer_ = nullptr, consumer_ = nullptr, bystander_ = nullptr, ours_ = nullptr;
};

}  // namespace dlbench::sync
