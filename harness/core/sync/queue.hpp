#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace dlbench::sync {

using Ns = std::int64_t;

/// The content of the exchanged array.
enum class Content { Old, New, Other };

/// An exchange whose producer works on a queue, as functions: for the simulated device, a real
/// device, and a library that is called from Python. Optional functions may be empty. The
/// classifier calls `settle` and rethrows their exceptions.
struct Queue {
  /// Waits for all queues, sets the old content, then submits {delay, new content} to the
  /// producer's queue and, if `decoy` is not 0, {decoy} to the queues of unrelated streams. Returns
  /// at once.
  std::function<void(Ns delay, Ns decoy)> arm;
  /// The content now, by an unordered read that does not wait.
  std::function<Content()> peek;
  /// The producer's half of the exchange: all requests of the consumer.
  std::function<void()> export_array;
  /// The consumer's half.
  std::function<void()> import_array;
  /// The content that a read in the consumer's order sees.
  std::function<Content()> read;
  /// Waits for all queues and releases all objects.
  std::function<void()> settle;

  /// Optional: submits {delay, new content} to the producer's queue and an unordered read to the
  /// consumer's. Returns true if the read saw the old content. Otherwise the device orders the
  /// queues itself (shared hardware queues), which cannot be distinguished from a wait. `settle` is
  /// called before and after.
  std::function<bool(Ns delay)> is_independent;
  /// Optional: are all unrelated queues still in their delay?
  std::function<bool()> decoy;
  /// Optional, after `settle`: the duration of the last delay on the device's clock.
  std::function<std::optional<double>()> delayed;
  /// Optional, after `settle`: the time from the end of the producer's work to the consumer's read,
  /// on the device's clock.
  std::function<std::optional<double>()> gap;

  /// Optional, for late frees. Sets the new content, makes the exchange, and submits {delay, read}
  /// to the consumer's queue. `read` then returns the content that was read.
  std::function<void(Ns delay)> slow_read;
  /// Drops the result and the producer's array.
  std::function<void()> drop;
  /// Makes another array of the same size and writes into it in the producer's order. Returns true
  /// if it has the same memory.
  std::function<bool()> reuse;
  /// Overwrites the memory that is being read, immediately and on the producer's queue, as `reuse`
  /// does. The slow read must see this.
  std::function<void()> overwrite;
};

/// The duration and number of trials.
struct Options {
  Ns delay = 5'000'000;  ///< half of the trials, interleaved, have twice this delay
  int need = 3;          ///< how often a host wait or a race must be observed
  int need_stream = 6;   ///< how often a stream wait must be observed
  int most = 40;         ///< the most trials
};

}  // namespace dlbench::sync
