#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace dlbench::sync {

/// Nanoseconds.
using Ns = std::int64_t;

/// The content of the exchanged array.
enum class Content { Old, New, Other };

/// One exchange whose producer works on a queue, as functions: the same table for the simulated
/// device, a real one, and a library that is driven from Python. Optional functions may be empty.
/// Their exceptions pass through the classifier, after `settle`.
struct Queue {
  /// Waits for all queues, makes the content old, then submits {pass `delay`, make it new} on the
  /// producer's queue and {pass `decoy`} on a bystander's, where that is not 0. Returns at once.
  std::function<void(Ns delay, Ns decoy)> arm;
  /// The content now: a read that is ordered after nothing and does not wait.
  std::function<Content()> peek;
  /// The producer's half of the exchange: every request of the consumer.
  std::function<void()> give;
  /// The consumer's half.
  std::function<void()> take;
  /// The content that the consumer's first read sees, in the consumer's order.
  std::function<Content()> read;
  /// Waits for every queue and releases everything.
  std::function<void()> settle;

  /// Optional: submits {pass `delay`, make it new} to the producer's queue, and an unordered read
  /// to the consumer's. Did the read see the old content? Where it did not, the consumer's queue
  /// runs behind the producer's by chance (hardware queues are shared), and a wait cannot be
  /// distinguished from that. `settle` comes before and after.
  std::function<bool(Ns delay)> is_independent;
  /// Optional: is every bystander still in its delay?
  std::function<bool()> decoy;
  /// Optional, after `settle`: the length of the last delay by the device's own clock.
  std::function<std::optional<double>()> delayed;
  /// Optional, after `settle`: from the end of the producer's work to the consumer's read, by the
  /// device's own clock.
  std::function<std::optional<double>()> gap;

  /// Optional, for late frees. Makes the content new, then the exchange, and submits {pass `delay`,
  /// read} to the consumer's queue. `read` then returns the content that was read.
  std::function<void(Ns delay)> slow_read;
  /// Drops the view and the producer's array.
  std::function<void()> drop;
  /// The producer makes another array of the same size and writes into it, in its own order. Is it
  /// the same memory?
  std::function<bool()> reuse;
  /// Overwrites the memory that is being read, immediately and on the producer's queue, as `reuse`
  /// does. `slow_read` must see it.
  std::function<void()> overwrite;
};

/// Length and number of the trials.
struct Options {
  Ns delay = 5'000'000;  ///< the other half of the trials, interleaved, has twice that
  int need = 3;          ///< how often a host wait or a race must repeat
  int need_stream = 6;   ///< how often a wait of the queue alone must repeat
  int most = 40;         ///< most trials
};

}  // namespace dlbench::sync
