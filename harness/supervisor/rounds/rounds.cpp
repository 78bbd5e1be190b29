#include "supervisor/rounds/rounds.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "stats/stopping.hpp"
#include "supervisor/process/signals.hpp"
#include "supervisor/rounds/numbers.hpp"
#include "supervisor/rounds/pace.hpp"
#include "supervisor/wire.hpp"

namespace dlbench::supervisor {
namespace {

constexpr double kMostNs = 0.15e9;
/// Rounds with a slow core that a worker measures again before it has kept any.
constexpr double kMostIdleS = 0.2;
// Rounds of phases take three times as long, and each may use two version tags of the producer's
// type.
constexpr std::size_t kMostPhasesRounds = 12;

/// Is the exchange below the resolution, so that more rounds would not help?
bool is_surely_below(const Samples& samples) {
  const std::optional<Bound> bound = below_resolution(samples);
  return bound && bound->is_final;
}

/// Does this process differ from an earlier one by more than the errors of both medians? Then only
/// more processes narrow the interval, not more rounds.
bool processes_differ(const Samples& samples, std::span<const Share> earlier) {
  const double own_ns = stats::median(samples.ns);
  const double error_ns = stats::half_width(samples.ns);
  return std::any_of(earlier.begin(), earlier.end(), [&](const Share& share) {
    return std::abs(share.numbers.median_ns - own_ns) >
           std::hypot(error_ns, stats::half_width(share.numbers.samples_ns));
  });
}

/// A cell that needs more rounds.
struct Refinement {
  Pick pick;
  double width = 0;        ///< relative half-width of its interval
  std::size_t rounds = 0;  ///< in the next pass
};

std::optional<Refinement> of_clock(const Pick& pick, const Context& context,
                                   const stats::Stopping& stopping) {
  const Samples& samples = *pick.clock;
  if (!is_enough(samples)) return std::nullopt;
  if (!has_all_rounds(context.options)) {
    if (stats::is_precise(samples.ns, stopping)) return std::nullopt;
    if (processes_differ(samples, context.ledger.shares_of(samples.cell))) return std::nullopt;
  }
  // A refinement that no burst accepts would be requested without end.
  if (is_surely_below(samples) || !is_due(pick)) return std::nullopt;
  // Rounds that were left out count too.
  const std::size_t made = samples.ns.size() + samples.behind;
  if (made >= stopping.most) return std::nullopt;
  const double each = samples.spent_ns / static_cast<double>(made);
  std::size_t rounds = std::min(stopping.pass, stopping.most - made);
  if (!context.budget.is_set()) {
    const double afford = (kMostNs - samples.spent_ns) / std::max(each, 1.0);
    if (afford < 1) return std::nullopt;
    rounds = std::min(rounds, static_cast<std::size_t>(afford));
  }
  return Refinement{pick, stats::relative_half_width(samples.ns), rounds};
}

std::optional<Refinement> of_phases(const Pick& pick, const Context& context,
                                    const stats::Stopping& stopping) {
  const PhaseRounds& phases = pick.task->phases;
  if (phases.is_over() || !phases.is_enough() || phases.rounds.size() >= kMostPhasesRounds ||
      !is_due(pick)) {
    return std::nullopt;
  }
  if (!context.budget.is_set() && phases.spent_ns >= 3 * kMostNs) return std::nullopt;
  const double width = phases.relative_half_width();
  if (width <= stopping.precision) return std::nullopt;
  return Refinement{pick, width, std::min(stopping.pass, kMostPhasesRounds - phases.rounds.size())};
}

/// The replicas reach the precision together, so each needs fewer rounds.
stats::Stopping stopping_of(const Options& options) {
  stats::Stopping stopping;
  stopping.precision = options.precision * std::sqrt(static_cast<double>(options.replicas));
  if (options.replicas > 1) stopping.most = std::max(stopping.first, stopping.most / 2);
  return stopping;
}

}  // namespace

bool has_all_rounds(const Options& options) {
  constexpr int kFewest = 9;
  return options.replicas >= kFewest;
}

void Rounds::measure_first(std::span<Task> batch) {
  std::vector<Pick> picks;
  for (Task& task : batch) {
    if (!task.prepared || task.over) continue;
    for (Samples& clock : task.clocks) picks.insert(picks.end(), kCoarseRounds, {&task, &clock});
    if (!task.phases.is_over()) picks.insert(picks.end(), kCoarseRounds, {&task});
  }
  std::shuffle(picks.begin(), picks.end(), context_.random);
  run(picks);
}

void Rounds::refine(std::span<Task> batch, double seconds) {
  const double until = now_s() + seconds;
  const stats::Stopping stopping = stopping_of(context_.options);
  while (!context_.budget.is_over() && now_s() < until) {
    std::vector<Refinement> refinements;
    const auto add = [&](const std::optional<Refinement>& refinement) {
      if (refinement) refinements.push_back(*refinement);
    };
    for (Task& task : batch) {
      if (task.over || !task.prepared) continue;
      for (Samples& clock : task.clocks) add(of_clock({&task, &clock}, context_, stopping));
      add(of_phases({&task}, context_, stopping));
    }
    if (refinements.empty()) return;
    std::stable_sort(refinements.begin(), refinements.end(),
                     [](const Refinement& a, const Refinement& b) { return a.width > b.width; });
    if (context_.budget.is_set()) refinements.resize((refinements.size() + 1) / 2);
    std::vector<Pick> picks;
    for (const Refinement& refinement : refinements)
      picks.insert(picks.end(), refinement.rounds, refinement.pick);
    std::shuffle(picks.begin(), picks.end(), context_.random);
    run(picks);
  }
}

void Rounds::run(const std::vector<Pick>& picks) {
  std::vector<Pick> wanted = picks;
  while (!wanted.empty()) {
    std::span<const Pick> left(wanted);
    while (!left.empty() && !context_.budget.is_over()) left = left.subspan(burst(left));
    wanted = std::exchange(again_, {});
  }
}

/// Requests several rounds at once and sleeps while they run. Waking up for each reply would take a
/// tenth of a short round and disturb the next one. Returns the number of `picks` that it used.
std::size_t Rounds::burst(std::span<const Pick> picks) {
  throw_if_stopped();
  std::vector<Pick> requested;
  double expected_ns = 0;
  std::size_t taken = 0;
  for (; taken < picks.size() && expected_ns < kBurstNs; ++taken) {
    if (!is_due(picks[taken])) continue;
    const double each = duration_ns(picks[taken]);
    if (!requested.empty() && expected_ns + each > kBurstNs) break;
    expected_ns += each;
    requested.push_back(picks[taken]);
  }
  for (const Pick& pick : requested) worker_.send(request_of(pick), activity_of(pick), pick.task);
  if (requested.size() > 1) ::usleep(static_cast<useconds_t>(expected_ns * 1e-3));
  std::vector<Task*> failed;
  for (const Pick& pick : requested) receive_round(pick, failed);
  for (Task* task : failed) worker_.drop(*task);
  return taken;
}

void Rounds::receive_round(const Pick& pick, std::vector<Task*>& failed) {
  Task& task = *pick.task;
  const Reply reply = worker_.receive(activity_of(pick), &task);
  if (task.over) return;
  if (pick.is_phases() && reply.ok) {
    PhaseTime time = read_phases(reply.body, task.phases);
    time.slow = context_.ledger.core_speed().add_slow(time.canary_ns);
    if (!is_left_out(pick, time.slow, spent_ns(time, task.phases))) add_phases(time, task.phases);
  } else if (pick.is_phases()) {
    recorder_.fail_phases(task, read_error(reply.body, Outcome::refused));
  } else if (reply.ok) {
    Samples& samples = *pick.clock;
    const RoundTime time = read_round(reply.body, samples.clock);
    const bool was_slow = context_.ledger.core_speed().add_slow(time.canary_ns);
    if (!is_left_out(pick, was_slow, spent_ns(time, samples))) add_round(time, samples);
  } else {
    on_failure_(task, read_error(reply.body, Outcome::refused));
    failed.push_back(&task);
  }
}

bool Rounds::is_left_out(const Pick& pick, bool was_slow, double spent_ns) {
  const double spent_s = spent_ns * 1e-9;
  context_.round_s += spent_s;
  // On a machine that is always busy, the rounds of a worker take twice as long at most.
  const bool is_out = was_slow && left_out_s_ <= kept_s_ + kMostIdleS;
  (is_out ? left_out_s_ : kept_s_) += spent_s;
  if (is_out) again_.push_back(pick);
  return is_out;
}

nlohmann::json Rounds::request_of(const Pick& pick) {
  return pick.is_phases() ? phases_request(*pick.task, context_.random() & 0xffffffffU)
                          : round_request(*pick.task, *pick.clock);
}

}  // namespace dlbench::supervisor
