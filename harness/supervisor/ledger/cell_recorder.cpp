#include "supervisor/ledger/cell_recorder.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <utility>

#include "model/contains.hpp"
#include "stats/stats.hpp"
#include "stats/stopping.hpp"
#include "supervisor/rounds/numbers.hpp"

namespace dlbench::supervisor {
namespace {

/// The clock of the copy rate, which ends when the data is complete. Null if that clock is `ready`
/// and `ready` was not requested.
const Samples* data_clock(const Task& task) {
  const Clock clock = task.verdict.has_ready ? Clock::ready : Clock::call;
  for (const Samples& samples : task.clocks) {
    if (samples.clock == clock && is_enough(samples)) return &samples;
  }
  return nullptr;
}

Failure without_time(const PhaseRounds& phases, const std::string& phase) {
  const std::vector<double> samples = samples_of(phases, phase);
  if (samples.empty() && phases.via == kViaBody) {
    return {Outcome::no_protocol, "", "a call has the phases import and release alone"};
  }
  if (samples.empty()) {
    return {Outcome::no_protocol, "",
            phase == Phase::query ? "the consumer does not query the device"
                                  : "the exchange has no phase " + phase};
  }
  const stats::Interval interval = stats::rounds_interval(samples);
  std::array<char, 80> text{};
  std::snprintf(text.data(), text.size(), "cannot be distinguished from zero: %.0f .. %.0f ns",
                interval.lo, interval.hi);
  return {Outcome::unsupported, "", text.data()};
}

Failure host_is_late(const Samples& samples) {
  return {Outcome::unsupported, "",
          "the device waited for the host in " + std::to_string(samples.behind) + " of " +
              std::to_string(samples.behind + samples.ns.size()) +
              " rounds, so the device's own time is unknown"};
}

}  // namespace

void CellRecorder::importing(const std::string& library) {
  add_new(imports_, library);
}

void CellRecorder::failed(std::size_t cell, const Task& task, Failure failure) {
  if (failure.imports.empty()) failure.imports = imports_of(task.exchange);
  ledger_.failed(cell, failure);
}

std::vector<std::string> CellRecorder::imports_of(const Exchange& exchange) const {
  std::vector<std::string> two;
  std::copy_if(imports_.begin(), imports_.end(), std::back_inserter(two),
               [&](const std::string& library) {
                 return library == exchange.producer || library == exchange.consumer;
               });
  if (two.size() < 2) two.clear();
  return two;
}

Entry CellRecorder::verdict_of(const Task& task) const {
  Entry verdict = task.verdict;
  verdict.imports = imports_of(task.exchange);
  return verdict;
}

void CellRecorder::fail(Task& task, const Failure& failure) {
  if (task.over) return;
  task.over = true;
  for (const Samples& samples : task.clocks) failed(samples.cell, task, failure);
  fail_phases(task, failure);
}

void CellRecorder::postpone(Task& task) {
  task.over = true;
  for (const Samples& samples : task.clocks) ledger_.postpone(samples.cell);
  for (const PhaseRounds::Wanted& one : task.phases.cells) ledger_.postpone(one.cell);
}

void CellRecorder::fail_phases(Task& task, const Failure& failure) {
  for (PhaseRounds::Wanted& one : task.phases.cells) {
    if (!std::exchange(one.recorded, true)) failed(one.cell, task, failure);
  }
}

void CellRecorder::pass_over(Task& task) {
  const Entry verdict = verdict_of(task);
  for (const Samples& samples : task.clocks) {
    ledger_.untimed(samples.cell, verdict);
  }
  for (PhaseRounds::Wanted& phase : task.phases.cells) {
    phase.recorded = true;
    ledger_.untimed(phase.cell, verdict);
  }
  task.over = true;
}

void CellRecorder::drop_clocks(Task& task) {
  for (const Samples& samples : task.clocks) {
    if (samples.without.empty()) continue;
    failed(samples.cell, task, {Outcome::unsupported, "", samples.without});
  }
  std::erase_if(task.clocks, [](const Samples& samples) { return !samples.without.empty(); });
}

void CellRecorder::share(Task& task, const Warnings& warnings) {
  const Samples* data = data_clock(task);
  warn(task.verdict.warnings, warnings);
  const Entry verdict = verdict_of(task);
  bool all = true;
  for (const Samples& samples : task.clocks) {
    if (is_host_late(samples)) {
      failed(samples.cell, task, host_is_late(samples));
      continue;
    }
    if (!is_enough(samples)) {
      all = false;
      continue;
    }
    Share share;
    if (samples.clock == Clock::device) share.device_timer = device_timer(samples);
    if (const std::optional<Bound> bound = below_resolution(samples)) {
      ledger_.below(samples.cell, verdict, *bound, *share.device_timer, samples.iterations);
      continue;
    }
    share.numbers.median_ns = stats::median(samples.ns);
    share.numbers.first_ns = samples.first_ns;
    share.numbers.samples_ns = samples.ns;
    share.iterations = samples.iterations;
    share.cpu_ns = stats::median(samples.cpu_ns);
    // Overhead floors are times of the host, so the clock `device` has none.
    share.floor_ns = samples.clock == Clock::device ? 0 : task.floor_ns;
    share.canary_ns = samples.canary_ns;
    if (samples.clock != Clock::device) share.numbers.core_ns = core_ns(samples.canary_ns);
    share.disturbed = {samples.moved, samples.preempted, 0, samples.behind};
    share.data_ns = data != nullptr ? stats::median(data->ns) : 0;
    if (samples.clock == Clock::call && task.phases.is_enough()) share.phases = task.phases;
    ledger_.measured(samples.cell, verdict, std::move(share));
  }
  task.over = share_phases(task) && all;
}

bool CellRecorder::share_phases(Task& task) {
  PhaseRounds& phases = task.phases;
  if (phases.is_over()) return true;
  if (!phases.is_enough()) return false;
  Entry verdict = verdict_of(task);
  warn(verdict.warnings, phases.warnings);
  for (PhaseRounds::Wanted& one : phases.cells) {
    if (std::exchange(one.recorded, true)) continue;
    std::vector<double> samples = samples_of(phases, one.phase);
    if (samples.empty() || !(stats::rounds_interval(samples).lo > 0)) {
      failed(one.cell, task, without_time(phases, one.phase));
      continue;
    }
    Share share;
    share.numbers.median_ns = stats::median(samples);
    share.numbers.samples_ns = std::move(samples);
    share.numbers.core_ns = core_ns(canaries_of(phases));
    share.iterations = phases.iterations;
    share.cpu_ns = share.numbers.median_ns;
    ledger_.measured(one.cell, verdict, std::move(share));
  }
  return true;
}

std::ptrdiff_t pending_cells(std::span<const Task> tasks) {
  std::ptrdiff_t pending = 0;
  for (const Task& task : tasks) {
    if (task.over) continue;
    pending += std::count_if(task.clocks.begin(), task.clocks.end(),
                             [](const Samples& samples) { return is_enough(samples); });
    if (task.phases.is_enough() && !task.phases.is_over()) {
      pending += static_cast<std::ptrdiff_t>(task.phases.cells.size());
    }
  }
  return pending;
}

}  // namespace dlbench::supervisor
