#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace dlbench::sync {

/// Nanoseconds.
using Ns = std::int64_t;

/// What lies in the array that is handed over.
enum class Content { Old, New, Other };

/// One exchange whose producer works on a queue, as functions: the same table for the simulated
/// device, a real one, and a library that is driven from Python. What is optional may be empty.
/// What they throw goes through the classifier, after `settle`.
struct Queue {
  /// Waits for all queues, makes the content old, then submits {pass `delay`, make it new} on the
  /// producer's queue and {pass `decoy`} on a bystander's, where that is not 0. Returns at once.
  std::function<void(Ns delay, Ns decoy)> arm;
  /// The content now: a look that is ordered after nothing and waits for nobody.
  std::function<Content()> peek;
  /// The producer's half of the exchange: all that the consumer asks of it.
  std::function<void()> give;
  /// The consumer's half.
  std::function<void()> take;
  /// The consumer's first read, in its own order: what it saw.
  std::function<Content()> read;
  /// Waits for every queue, lets go of everything.
  std::function<void()> settle;

  /// Optional: {pass `delay`, make it new} on the producer's queue, and a read on the consumer's
  /// that nothing orders. Did it see the old content? Where it does not, the consumer's queue runs
  /// behind the producer's by chance (hardware queues are shared), and a wait cannot be told from
  /// that. `settle` comes before and after.
  std::function<bool(Ns delay)> is_independent;
  /// Optional: does the delay of every bystander still last?
  std::function<bool()> decoy;
  /// Optional, after `settle`: how long the last delay really was, by the device's own clock.
  std::function<std::optional<double>()> delayed;
  /// Optional, after `settle`: from the end of the producer's work to the consumer's read, by the
  /// device's own clock.
  std::function<std::optional<double>()> gap;

  /// Optional, late free. The content is new; the exchange is made, and {pass `delay`, read} put on
  /// the consumer's queue; `read` then tells what it saw.
  std::function<void(Ns delay)> slow_read;
  /// Drops the view and the producer's array.
  std::function<void()> drop;
  /// The producer makes another array of the size and writes into it, in its own order. Was it the
  /// same memory?
  std::function<bool()> reuse;
  /// Overwrites the very memory that is being read, at once and on the producer's queue, as
  /// `reuse` does: what `slow_read` has to see.
  std::function<void()> overwrite;
};

/// How long and how often to look.
struct Options {
  Ns delay = 5'000'000;  ///< and twice that, interleaved
  int need = 3;          ///< how often a host's wait or a race has to repeat
  int need_stream = 6;   ///< and a wait of the queue alone
  int most = 40;         ///< trials
};

}  // namespace dlbench::sync
