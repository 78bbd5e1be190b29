#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "model/ordering.hpp"
#include "sync/queue.hpp"
#include "sync/trial.hpp"

namespace dlbench::sync {

/// How an exchange synchronizes, with the evidence.
struct Verdict {
  Waits waits = Waits::inconclusive;
  std::optional<Content> saw;  ///< none where nothing was pending
  double transfer_ns = 0;      ///< export and import, the producer idle
  std::optional<double> export_blocked, import_blocked;
  std::optional<double> gap_ns;
  int trials = 0;
  /// Why it is inconclusive or there was no delay, and what `none` may stand for, where known.
  std::string_view reason;  ///< of codes::kSyncReasons
};

/// Classifies synchronization: by values first, by times second.
///
/// The one rule: content that is still old when a call has returned proves that the call did not
/// wait. The opposite is only likely, since the delay may just have ended, so it must repeat.
/// Two checks exclude chance. A read right before the consumer's must see old content: the delay
/// has not ended. An unordered read before the trial must see old content: the two queues do not
/// run one behind the other.
Verdict classify(const Queue& queue, const Options& options = {});

/// Counts over the trials of one delay.
struct Tally {
  int tried = 0;
  int dependent = 0;     ///< trials without proof that the queues run concurrently
  int pending = 0;       ///< trials with power
  int early = 0;         ///< of these: neither export nor import waited
  int stale = 0;         ///< the read saw old content
  int held_and_new = 0;  ///< export or import waited, the read saw new content
  int ordered = 0;       ///< no wait; the read just before saw old content, the consumer's read new
  /// `trials`: those of all delays.
  Waits word(const Options& options, int trials) const;
};
Tally tally(const std::vector<Trial>& trials);

/// The share of a delay for which a call held the host: the slope of its time, up to the delay's
/// end, over the delay's, from each pair of trials with a short and a long one. None where no trial
/// had power.
std::optional<double> blocked_share(const std::vector<Trial>& trials, Call call, Ns delay);

}  // namespace dlbench::sync
