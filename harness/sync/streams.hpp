#pragma once

#include <optional>

#include "device/table.hpp"
#include "sync/queue.hpp"

namespace dlbench::sync {

/// What the word at an array's end may hold.
struct Words {
  unsigned before = 1, after = 2;
};

/// The streams of a device that stand for an exchange's two ends, a bystander, and us: what a
/// `Queue` needs but for the exchange itself. None has implicit edges with the others.
/// What the device refuses is thrown as std::runtime_error.
class Streams {
 public:
  /// `host_memory`: a host thread may look at device memory as it is.
  Streams(const device::Table& table, bool host_memory);
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  ~Streams();

  device::Stream producer() const { return producer_; }
  device::Stream consumer() const { return consumer_; }
  device::Stream bystander() const { return bystander_; }
  /// For streams that a library brings itself.
  void set_consumer(device::Stream stream) { reads_on_ = stream; }
  /// Takes the default stream for a bystander as well: who forgets which stream it works on waits
  /// for that one. Only where nobody else in the process uses it.
  void take_default_for_bystander() { is_default_ours_ = true; }

  /// The parts of a Queue, for the word at `word`.
  void arm(device::Address word, const Words& words, Ns delay, Ns decoy);
  unsigned peek(device::Address word);
  unsigned read(device::Address word);
  unsigned control(device::Address word);
  bool decoy() const;
  void settle();
  std::optional<double> delayed() const;
  std::optional<double> gap() const;
  /// {pass `delay`, read} on the consumer's stream; `fetch` tells what it read.
  void slow_read(device::Address word, Ns delay);
  unsigned fetch();
  /// At once, beside all queues.
  void store(device::Address word, unsigned value);

  /// Of the producer's stream: record there, let the other wait.
  void order(device::Stream first, device::Stream then);
  void synchronize(device::Stream stream);

  const device::Table& table() const { return table_; }

 private:
  /// Device times in ns, begin and end each: of the producer's delay, the read, and the delays of
  /// the bystanders.
  enum Stamp { kBegin, kEnd, kRead, kReadEnd, kDecoy, kDecoyEnd, kDefault, kDefaultEnd, kStamps };
  struct Shared {
    unsigned seen[3];  // by peek, read, control
    std::int64_t stamps[kStamps];
  };
  void check(device::Code code, const char* what) const;
  void put_decoy(device::Stream stream, Ns delay, Stamp stamp);
  bool lasts(Stamp end) const;
  void copy(device::Address word, unsigned& to, device::Stream stream);
  device::Address address(const void* host) const;

  const device::Table& table_;
  bool host_memory_;
  bool is_default_ours_ = false;
  device::Stream producer_ = nullptr, consumer_ = nullptr, bystander_ = nullptr, ours_ = nullptr;
  device::Stream control_ = nullptr;
  device::Stream reads_on_ = nullptr;
  device::Event event_ = nullptr;
  Shared* shared_ = nullptr;  // pinned
};

}  // namespace dlbench::sync
