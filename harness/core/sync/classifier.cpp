#include "sync/classifier.hpp"

#include <algorithm>
#include <string_view>

#include "model/codes.hpp"
#include "stats/stats.hpp"

namespace dlbench::sync {
namespace {

constexpr int kIdle = 4;      // timed exchanges with an idle producer
constexpr int kBlocking = 3;  // number of delays, each twice as long as the last
constexpr int kTooWeak = 4;   // trials after which a longer delay may be used
// Trials without power at the longest delay, after which none is expected.
constexpr int kPowerless = 8;
constexpr Ns kMostDelay = 80'000'000;
constexpr double kLeastRise = 0.4;  // share of the delay by which two compared trials must differ
constexpr Ns kLeastDecoy = 10'000'000;

std::optional<double> median_of(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return stats::median(values);
}

// The remaining delay at the beginning of the call.
double left(const Trial& trial, Call call) {
  if (!trial.delayed) return static_cast<double>(trial.ended - trial.began[call]);
  return *trial.delayed - static_cast<double>(trial.began[call]);
}

// The time for which the call blocked the host, at most until the end of the delay, because a host
// may be woken late.
double held(const Trial& trial, Call call) {
  return std::min(static_cast<double>(trial.took[call]), std::max(left(trial, call), 0.0));
}

// Called only after a race, because an unrelated stream's work may slow the exchange. The unrelated
// stream's delay is shorter, so a wait that ends with it was for a wrong stream.
Waits which_race(const Queue& queue, const Options& options) {
  Ns decoy = std::max(options.delay / 2, kLeastDecoy);
  bool host_is_free = false;
  for (int i = 0; i < 2 * options.need; ++i) {
    // The delay may have ended while the thread was preempted, so try a longer one.
    if (i > 0 && i % 2 == 0) decoy *= 2;
    bool all_free = false;
    run_and_settle(queue, [&] {
      queue.arm(2 * decoy, decoy);
      const bool pending = queue.decoy();
      queue.export_array();
      queue.import_array();
      host_is_free = host_is_free || (pending && queue.decoy());
      queue.read();
      all_free = pending && queue.decoy();
    });
    if (all_free) return Waits::none;
  }
  return host_is_free ? Waits::wrong_stream : Waits::host_wrong;
}

std::optional<double> gap_of(const std::vector<Trial>& trials) {
  std::vector<double> gaps;
  for (const Trial& trial : trials) {
    if (trial.had_power() && trial.gap) gaps.push_back(*trial.gap);
  }
  return median_of(gaps);
}

// Does the call that starts the producer's work always block for the delay?
bool is_done_when_begun(const Queue& queue, Ns delay) {
  bool is_done = true;
  for (int i = 0; i < kBlocking && is_done; ++i, delay *= 2) {
    run_and_settle(queue, [&] {
      const Ns begin = now();
      queue.arm(delay, 0);
      is_done = now() - begin >= delay && queue.peek() == Content::New;
    });
  }
  return is_done;
}

}  // namespace

Tally tally(const std::vector<Trial>& trials) {
  Tally made;
  made.tried = static_cast<int>(trials.size());
  for (const Trial& trial : trials) {
    made.dependent += !trial.is_independent;
    if (!trial.had_power()) continue;
    ++made.pending;
    made.stale += trial.is_stale();
    if (trial.held(kExport) || trial.held(kImport)) {
      made.held_and_new += trial.content == Content::New;
      continue;
    }
    ++made.early;
    made.ordered += trial.before[kRead] == Content::Old && trial.content == Content::New;
  }
  return made;
}

Waits Tally::word(const Options& options, int trials) const {
  if (stale >= options.need || (stale > 0 && trials >= options.most)) {
    return early == 0 ? Waits::host_wrong : Waits::none;
  }
  if (stale == 0 && early == 0 && held_and_new >= options.need) return Waits::host;
  if (stale == 0 && early > 0 && ordered >= options.need_stream) return Waits::stream;
  if (pending == 0 && dependent == 0 && tried >= kPowerless) return Waits::no_delay;
  return Waits::inconclusive;
}

std::optional<double> blocked_share(const std::vector<Trial>& trials, Call call, Ns delay) {
  const bool any = std::any_of(trials.begin(), trials.end(),
                               [](const Trial& trial) { return trial.had_power(); });
  if (!any) return std::nullopt;
  std::vector<double> slopes, shares;
  for (const Trial& brief : trials) {
    if (brief.before[call] != Content::Old) continue;
    shares.push_back(held(brief, call) / std::max(left(brief, call), 1.0));
    for (const Trial& lengthy : trials) {
      if (brief.delay != delay || lengthy.delay == delay) continue;
      if (lengthy.before[call] != Content::Old) continue;
      const double more = left(lengthy, call) - left(brief, call);
      if (more < kLeastRise * static_cast<double>(delay)) continue;
      slopes.push_back((held(lengthy, call) - held(brief, call)) / more);
    }
  }
  if (!slopes.empty()) return stats::median(slopes);
  // Equal delays have no slope. A delay that ended in an earlier call blocks no later call.
  return shares.empty() ? 0.0 : stats::median(shares);
}

Verdict classify(const Queue& queue, const Options& options) {
  Verdict verdict;
  const Idle idle = run_idle(queue, kIdle);
  verdict.transfer_ns = idle.transfer_ns;
  // If the content of an idle producer is not read, old content has no meaning.
  if (!idle.is_read) return verdict;
  Options now = options;
  std::vector<Trial> trials;
  Tally found;
  bool was_busy = false;  // under a shorter delay
  while (verdict.waits == Waits::inconclusive && verdict.trials < options.most) {
    for (const Ns delay : {now.delay, 2 * now.delay}) {
      trials.push_back(run_trial(queue, delay));
      ++verdict.trials;
    }
    found = tally(trials);
    verdict.waits = found.word(options, verdict.trials);
    if (verdict.waits == Waits::no_delay && was_busy) verdict.waits = Waits::inconclusive;
    if (found.dependent == found.tried && found.tried >= kPowerless) break;
    // A library's delay is calibrated once, so on a busy machine or with slow submission it may end
    // too early.
    const bool weak = found.tried >= kTooWeak && 2 * found.pending < found.tried;
    if (verdict.waits == Waits::inconclusive && weak && now.delay < kMostDelay) {
      now.delay = std::min(2 * now.delay, kMostDelay);
      was_busy = was_busy || found.pending > 0;
      // One read of old content proves that nothing waited, so the other trials are dropped.
      std::erase_if(trials, [](const Trial& trial) { return !trial.is_stale(); });
    }
  }
  if (verdict.waits == Waits::inconclusive && found.dependent > 0) {
    verdict.reason = codes::kDependentStreams;
  }
  // If the array is complete when the call returns, no read can come before the producer's work.
  if (verdict.waits == Waits::no_delay || found.dependent == found.tried) {
    const bool blocks = is_done_when_begun(queue, options.delay);
    if (blocks) verdict.waits = Waits::no_delay;
    if (verdict.waits == Waits::no_delay)
      verdict.reason = blocks ? codes::kBeginBlocks : codes::kNeverBusy;
  }
  if (found.pending > 0) verdict.content = found.stale > 0 ? Content::Old : Content::New;
  verdict.export_blocked = blocked_share(trials, kExport, now.delay);
  verdict.import_blocked = blocked_share(trials, kImport, now.delay);
  verdict.gap_ns = gap_of(trials);
  if (verdict.waits == Waits::none) {
    if (queue.decoy) {
      verdict.waits = which_race(queue, now);
    } else {
      verdict.reason = codes::kNoOtherStream;
    }
  }
  return verdict;
}

}  // namespace dlbench::sync
