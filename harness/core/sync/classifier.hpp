#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "model/ordering.hpp"
#include "sync/queue.hpp"
#include "sync/trial.hpp"

namespace dlbench::sync {

/// The synchronization of an exchange, with the evidence.
struct Verdict {
  Waits waits = Waits::inconclusive;
  std::optional<Content> content;  ///< none if nothing was pending
  double transfer_ns = 0;          ///< export and import while the producer is idle
  std::optional<double> export_blocked, import_blocked;
  std::optional<double> gap_ns;
  int trials = 0;
  /// Why the result is inconclusive or without a delay, or a limit of `none`; empty without a
  /// reason.
  std::string_view reason;  ///< of codes::kSyncReasons
};

/// Classifies synchronization, first by values, then by times.
///
/// Old content after a call has returned proves that the call did not wait. New content is only
/// evidence of a wait, because the delay may just have ended, so it must be observed repeatedly.
/// Two checks exclude chance. A read right before the consumer's must see old content: the delay
/// has not ended. An unordered read before the trial must see old content: the two queues are
/// independent.
Verdict classify(const Queue& queue, const Options& options = {});

/// Counts over the trials of one delay.
struct Tally {
  int tried = 0;
  int dependent = 0;     ///< trials without proof that the queues run concurrently
  int pending = 0;       ///< trials in which the producer was busy when the export began
  int early = 0;         ///< of these, trials in which neither export nor import waited
  int stale = 0;         ///< the read saw old content
  int held_and_new = 0;  ///< export or import waited, the read saw new content
  /// No wait; the read just before saw old content, and the consumer's read new content.
  int ordered = 0;
  /// `trials`: the number of trials of all delays.
  Waits word(const Options& options, int trials) const;
};
Tally tally(const std::vector<Trial>& trials);

/// The share of a delay for which a call blocked the host: the median slope of its time against the
/// delay, over pairs of trials with a short and a long delay. None if the producer was busy in no
/// trial.
std::optional<double> blocked_share(const std::vector<Trial>& trials, Call call, Ns delay);

}  // namespace dlbench::sync
