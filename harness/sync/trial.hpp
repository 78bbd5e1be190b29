#pragma once

#include <array>
#include <optional>

#include "sync/queue.hpp"

namespace dlbench::sync {

/// Monotonic time.
Ns now();

/// The three calls of a trial, in order.
enum Call { kGive, kTake, kRead };

/// One observation of an exchange whose producer is busy.
struct Trial {
  Ns delay = 0;                   ///< requested
  std::optional<double> delayed;  ///< measured, where the device reports it
  std::optional<double> gap;
  std::array<Ns, 3> began{};  ///< times since before the delay was submitted
  std::array<Ns, 3> took{};
  std::array<Content, 3> before{Content::Other, Content::Other, Content::Other};
  std::array<Content, 3> after{Content::Other, Content::Other, Content::Other};
  Content saw = Content::Other;
  /// The consumer's queue was checked not to run behind the producer's by chance. Else nothing was
  /// tried.
  bool is_independent = true;
  Ns ended = 0;  ///< when the content first became new, on the clock of `began`
  /// The content never became new, though the read saw it or the delay was over: the wrong address
  /// was read.
  bool misplaced = false;

  bool had_power() const { return before[kGive] == Content::Old && !misplaced; }
  bool is_stale() const { return had_power() && saw == Content::Old; }
  bool held(Call call) const { return before[call] == Content::Old && after[call] != Content::Old; }
};

/// Runs the function, then settles, also where it throws.
template <typename Work>
void settled(const Queue& queue, Work work) {
  try {
    work();
  } catch (...) {
    queue.settle();
    throw;
  }
  queue.settle();
}

/// Runs one trial, and settles even after an exception.
Trial run_trial(const Queue& queue, Ns delay);

/// The exchange with an idle producer.
struct Idle {
  double transfer_ns = 0;  ///< `give` and `take`, the median
  bool is_read = true;     ///< each observation and each read saw the new content
};

/// Runs so many exchanges. The first is not timed: code that is loaded on first use may wait for
/// the device.
Idle run_idle(const Queue& queue, int times);

}  // namespace dlbench::sync
