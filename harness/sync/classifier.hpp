#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "model/ordering.hpp"
#include "sync/queue.hpp"
#include "sync/trial.hpp"

namespace dlbench::sync {

/// How an exchange synchronizes, with the evidence.
struct Verdict {
  Waits waits = Waits::inconclusive;
  std::optional<Content> saw;  ///< none where nothing was pending
  double transfer_ns = 0;      ///< give and take, the producer idle
  std::optional<double> export_blocked, import_blocked;
  std::optional<double> gap_ns;
  int trials = 0;
  /// Why it is inconclusive or there was no delay, and what `none` may stand for, where known.
  std::string reason;
};

/// Classifies synchronization: by values first, by times second.
///
/// The one rule: content that is still old when a call has returned proves that the call did not
/// wait. The opposite is only likely, since the delay may just have ended, so it must repeat.
/// A queue's wait is told from a delay that ended by chance by a look right before the read, which
/// must have seen old content; and from queues that run one behind the other by chance by a read
/// that nothing ordered, which must have seen old content before the trial began.
Verdict classify(const Queue& queue, const Options& options = {});

/// What the trials of one delay say so far.
struct Tally {
  int tried = 0;
  int dependent = 0;     ///< trials whose queues were not seen to be independent
  int pending = 0;       ///< trials with power
  int early = 0;         ///< of these: neither give nor take waited
  int stale = 0;         ///< the read saw old content
  int held_and_new = 0;  ///< give or take waited, the read saw new content
  int ordered = 0;       ///< early, the look before the read saw old content, the read new
  /// `trials`: those of all delays.
  Waits word(const Options& options, int trials) const;
};
Tally tally(const std::vector<Trial>& trials);

/// The share of a delay for which a call held the host: the slope of its time, up to the delay's
/// end, over the delay's, from each pair of trials with a short and a long one. None where no trial
/// had power.
std::optional<double> blocked_share(const std::vector<Trial>& trials, Call call, Ns delay);

}  // namespace dlbench::sync
