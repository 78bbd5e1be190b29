#pragma once

#include <initializer_list>
#include <optional>
#include <vector>

#include "device/owners.hpp"
#include "sync/queue.hpp"

namespace dlbench::sync {

/// Values of the word at an array's end.
struct Words {
  unsigned before = 1, after = 2;
};

/// Four streams of a device for a `Queue`: the producer's, the consumer's, a bystander's, and
/// dlbench's own. None has implicit edges with the others. Each is checked to run concurrently with
/// the others: a driver has fewer hardware queues than streams, and work on two streams that share
/// a queue is ordered by chance. Errors of the device are thrown as std::runtime_error.
class Streams {
 public:
  /// `host_memory`: a host thread may read the device memory directly. `consumer`: the consumer's
  /// own stream.
  Streams(const device::Table& table, bool host_memory,
          std::optional<device::Stream> consumer = {});
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  device::Stream producer() const { return producer_; }
  device::Stream consumer() const { return consumer_; }
  device::Stream bystander() const { return bystander_; }
  /// Do the streams of producer, consumer and dlbench's reads run concurrently? Without that no
  /// trial proves anything.
  bool are_independent() const { return are_independent_; }
  /// Does the bystander run concurrently with them all?
  bool has_bystander() const { return has_bystander_; }
  /// Chooses another stream for dlbench's reads, or for the consumer's: only a trial shows whether
  /// a stream runs concurrently with a library's own.
  void replace_ours();
  void replace_consumer();
  /// Also makes the default stream a bystander, where it runs concurrently with the consumer's: a
  /// library that uses the wrong stream usually waits for the default one. Only where nothing else
  /// in the process uses it.
  void take_default_for_bystander();

  /// The functions of a Queue for the word at `word`.
  void arm(device::Address word, const Words& words, Ns delay, Ns decoy);
  /// The bystanders' functions of that Queue.
  void hold_bystanders(Ns decoy);
  unsigned peek(device::Address word);
  unsigned read(device::Address word);
  /// Function of `Queue`, as is the next.
  bool is_independent(device::Address word, const Words& words, Ns delay);
  bool decoy() const;
  void settle();
  std::optional<double> delayed() const;
  std::optional<double> gap() const;
  /// {pass `delay`, read} on the consumer's stream; `fetch` returns the value that was read.
  void slow_read(device::Address word, Ns delay);
  unsigned fetch();
  /// Immediately, concurrently with all queues.
  void store(device::Address word, unsigned value);
  /// On the producer's stream; waits for that stream alone.
  void store_as_producer(device::Address word, unsigned value);

  /// Records on the producer's stream; the other stream waits for it.
  void order(device::Stream first, device::Stream then);
  void synchronize(device::Stream stream);

  const device::Table& table() const { return table_; }

 private:
  /// Device times in ns, begin and end: of the producer's delay, of the read, and of the
  /// bystanders' delays.
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
  Shared* shared_ = nullptr;  // there
  std::vector<device::OwnStream>
      made_;  // kept until the end: a freed stream's queue would be reused
  device::Stream producer_ = nullptr, consumer_ = nullptr, bystander_ = nullptr, ours_ = nullptr;
};

}  // namespace dlbench::sync
