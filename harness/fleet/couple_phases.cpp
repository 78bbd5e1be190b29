#include <array>
#include <cstdio>
#include <utility>

#include "fleet/couple.hpp"
#include "fleet/numbers.hpp"
#include "stats/stats.hpp"
#include "stats/stopping.hpp"

namespace dlbench::fleet {
namespace {

Trouble without_time(const PhaseRounds& phases, const std::string& phase) {
  Trouble trouble;
  const std::vector<double> samples = samples_of(phases, phase);
  if (samples.empty()) {
    trouble.outcome = Outcome::no_protocol;
    trouble.reason = phase == "query" ? "the consumer does not ask for the device"
                                      : "this exchange has no " + phase;
    return trouble;
  }
  trouble.outcome = Outcome::unsupported;
  const stats::Interval interval = stats::rounds_interval(samples);
  std::array<char, 80> text{};
  std::snprintf(text.data(), text.size(), "too short to be told from nothing: %.0f .. %.0f ns",
                interval.lo, interval.hi);
  trouble.reason = text.data();
  return trouble;
}

}  // namespace

void CoupleRun::split(Task& task) {
  const Reply reply = ask(split_request(task), Doing::phases, &task);
  if (!reply.ok) {
    fail_phases(task, read_error(reply.body, Outcome::unsupported));
    return;
  }
  read_split(reply.body, task.phases);
}

void CoupleRun::add_phases(const PhaseTime& time, PhaseRounds& phases) {
  const double spent_ns = 3 * time.exchange_ns * static_cast<double>(phases.iterations);
  phases.rounds.push_back(time);
  phases.spent_ns += spent_ns;
  context_.round_s += spent_ns * 1e-9;
}

bool CoupleRun::share_phases(Task& task) {
  PhaseRounds& phases = task.phases;
  if (phases.is_over()) return true;
  if (!phases.is_enough()) return false;
  Entry verdict = task.verdict;
  verdict.warnings.insert(verdict.warnings.end(), phases.warnings.begin(), phases.warnings.end());
  for (PhaseRounds::Wanted& one : phases.cells) {
    if (std::exchange(one.settled, true)) continue;
    std::vector<double> samples = samples_of(phases, one.phase);
    if (samples.empty() || !(stats::rounds_interval(samples).lo > 0)) {
      context_.ledger.failed(one.cell, without_time(phases, one.phase));
      continue;
    }
    Share share;
    share.numbers.median_ns = stats::median(samples);
    share.numbers.samples_ns = std::move(samples);
    share.iterations = phases.iterations;
    share.cpu_ns = share.numbers.median_ns;
    context_.ledger.measured(one.cell, verdict, std::move(share));
  }
  return true;
}

void CoupleRun::fail_phases(Task& task, const Trouble& trouble) {
  for (PhaseRounds::Wanted& one : task.phases.cells) {
    if (!std::exchange(one.settled, true)) context_.ledger.failed(one.cell, trouble);
  }
}

}  // namespace dlbench::fleet
