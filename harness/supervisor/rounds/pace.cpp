#include "supervisor/rounds/pace.hpp"

#include "supervisor/rounds/numbers.hpp"

namespace dlbench::supervisor {
namespace {

/// The duration of a round of phases, as a multiple of an exchange round: it contains the whole
/// exchange, the parts without stamps, and the parts with stamps.
constexpr double kPhasesRounds = 3.5;

double expected_ns(const Samples& samples, double round_ns) {
  const std::size_t rounds = samples.ns.size() + samples.behind;
  if (rounds > 0) return samples.spent_ns / static_cast<double>(rounds);
  // A single iteration may take any time, so assume the longest.
  return samples.iterations > 1 ? round_ns : kBurstNs;
}

double expected_ns(const PhaseRounds& phases, double round_ns) {
  if (phases.rounds.empty()) return phases.iterations > 1 ? kPhasesRounds * round_ns : kBurstNs;
  return phases.spent_ns / static_cast<double>(phases.rounds.size());
}

bool is_time_up(const Samples& samples) {
  return samples.ns.size() + samples.behind < kCoarseRounds && is_enough(samples);
}
bool is_time_up(const PhaseRounds& phases) {
  return phases.rounds.size() < kCoarseRounds && phases.is_enough();
}

}  // namespace

double duration_ns(const Pick& pick) {
  return pick.is_phases() ? expected_ns(pick.task->phases, pick.task->round_ns)
                          : expected_ns(*pick.clock, pick.task->round_ns);
}

double spent_ns(const RoundTime& time, const Samples& samples) {
  return samples.clock == Clock::device ? time.spent_ns
                                        : time.ns * static_cast<double>(samples.iterations);
}

double add_round(const RoundTime& time, Samples& samples) {
  const double spent = spent_ns(time, samples);
  samples.spent_ns += spent;
  if (time.behind) {
    // The time of this row, or of the empty row, includes host time, so it is not used.
    ++samples.behind;
    return spent * 1e-9;
  }
  if (samples.clock == Clock::device) samples.empty_ns.push_back(time.empty_ns);
  samples.ns.push_back(time.ns);
  samples.cpu_ns.push_back(time.cpu_ns);
  samples.canary_ns.push_back(time.canary_ns);
  samples.moved += time.moved ? 1 : 0;
  samples.preempted += time.preempted ? 1 : 0;
  return spent * 1e-9;
}

double spent_ns(const PhaseTime& time, const PhaseRounds& phases) {
  return 3 * time.exchange_ns * static_cast<double>(phases.iterations);
}

void add_phases(const PhaseTime& time, PhaseRounds& phases) {
  phases.rounds.push_back(time);
  phases.spent_ns += spent_ns(time, phases);
}

bool is_due(const Pick& pick) {
  const Task& task = *pick.task;
  if (task.over) return false;
  if (pick.is_phases()) return !task.phases.is_over() && !is_time_up(task.phases);
  return !is_time_up(*pick.clock);
}

}  // namespace dlbench::supervisor
