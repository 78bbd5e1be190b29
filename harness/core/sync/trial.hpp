#pragma once

#include <array>
#include <optional>

#include "sync/queue.hpp"

namespace dlbench::sync {

/// Monotonic time.
Ns now();

/// The three calls of a trial, in order.
enum Call { kExport, kImport, kRead };

/// One observation of an exchange whose producer is busy.
struct Trial {
  Ns delay = 0;                   ///< requested
  std::optional<double> delayed;  ///< measured, where the device reports it
  std::optional<double> gap;
  std::array<Ns, 3> began{};  ///< time since just before the delay was submitted
  std::array<Ns, 3> took{};
  std::array<Content, 3> before{Content::Other, Content::Other, Content::Other};
  std::array<Content, 3> after{Content::Other, Content::Other, Content::Other};
  Content content = Content::Other;
  /// The check proved that the queues run concurrently. Otherwise nothing else was tried.
  bool is_independent = true;
  Ns ended = 0;  ///< when the content first became new, on the clock of `began`
  /// The content never became new, although the read saw new content or the delay was over, so a
  /// wrong address was read.
  bool misplaced = false;

  bool had_power() const { return before[kExport] == Content::Old && !misplaced; }
  bool is_stale() const { return had_power() && content == Content::Old; }
  bool held(Call call) const { return before[call] == Content::Old && after[call] != Content::Old; }
};

/// Runs the function, then calls settle(), also if it throws.
template <typename Work>
void run_and_settle(const Queue& queue, Work work) {
  try {
    work();
  } catch (...) {
    queue.settle();
    throw;
  }
  queue.settle();
}

/// Runs one trial. Calls settle() also after an exception.
Trial run_trial(const Queue& queue, Ns delay);

/// The observations of exchanges with an idle producer.
struct Idle {
  double transfer_ns = 0;  ///< median of `export_array` and `import_array`
  bool is_read = true;     ///< every observation and every read saw the new content
};

/// Runs `times` exchanges. The first one is not timed, because loading code on first use may wait
/// for the device.
Idle run_idle(const Queue& queue, int times);

}  // namespace dlbench::sync
