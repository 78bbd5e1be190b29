#include "supervisor/ledger/ledger.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "model/codes.hpp"
#include "model/units.hpp"

namespace dlbench::supervisor {
namespace {

constexpr codes::WarningCode kReplaced = "worker-replaced";

void warn_of_replaced(Entry& verdict) {
  warn(verdict.warnings, kReplaced,
       "times of disturbed workers are left out, and other workers measure the cell");
}

}  // namespace

Ledger::Ledger(const plan::Plan& plan, const results::JournalContents& before, int replicas,
               results::Journal& journal, Observer& observer)
    : plan_(plan),
      cells_(plan.cells.size()),
      replicas_(static_cast<std::size_t>(replicas)),
      replaces_disturbed_(std::all_of(plan.cells.begin(), plan.cells.end(),
                                      [&](const Cell& cell) {
                                        return cell.exchange.environment ==
                                               plan.cells.front().exchange.environment;
                                      })),
      journal_(journal),
      observer_(observer) {
  missing_ = cells_.size() * replicas_;
  uncovered_ = cells_.size();
  std::unordered_map<std::string, const Entry*> done;
  for (const Entry& entry : before.entries) {
    if (is_final(entry)) done.emplace(name(entry.cell), &entry);
  }
  if (done.empty()) return;
  for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
    const auto found = done.find(name(plan.cells[cell]));
    if (found != done.end()) restore(cell, *found->second);
  }
}

/// Adds an entry of an earlier session. A cell that lacks replicas stays open. Of its phases only
/// the breakdown is kept, because the journal does not contain their rounds.
void Ledger::restore(std::size_t cell, const Entry& entry) {
  missing_ -= replicas_;
  --uncovered_;
  cells_[cell].covered = true;
  if (is_measured(entry.outcome) && entry.workers.size() < replicas_) {
    CellState& state = cells_[cell];
    state.verdict = std::make_unique<Entry>(entry);
    // fill_numbers() adds these warnings again, from all workers.
    constexpr std::array<codes::WarningCode, 4> kFoundAgain{"few-rounds", "bimodal", "drift",
                                                            "workers-disagree"};
    for (const codes::WarningCode code : kFoundAgain) forget(state.verdict->warnings, code);
    for (const WorkerNumbers& worker : entry.workers) {
      Share share;
      share.numbers = worker;
      share.numbers.outcome = worker.outcome.value_or(entry.outcome);
      share.iterations = worker.iterations.value_or(entry.iterations);
      share.cpu_ns = entry.cpu_ns;
      share.floor_ns = entry.floor_ratio > 0 ? entry.median_ns / entry.floor_ratio : 0;
      share.device_timer = entry.device_timer;
      if (entry.gb_per_s) {
        share.data_ns = static_cast<double>(entry.cell.exchange.bytes) / *entry.gb_per_s;
      }
      state.shares.push_back(std::move(share));
    }
    missing_ += replicas_ - state.shares.size();
    return;
  }
  cells_[cell].recorded = true;
  ++recorded_;
  if (is_measured(entry.outcome)) ++numbers_;
}

void Ledger::measured(std::size_t cell, const Entry& verdict, Share share) {
  CellState& state = cells_[cell];
  if (state.recorded) return;
  if (!state.verdict) state.verdict = std::make_unique<Entry>(verdict);
  Entry& kept = *state.verdict;
  Warnings warnings = verdict.warnings;
  warn(warnings, kept.warnings);
  if (weaker_claim(kept.outcome, verdict.outcome) == verdict.outcome) kept = verdict;
  kept.warnings = std::move(warnings);
  share.numbers.outcome = verdict.outcome;
  state.shares.push_back(std::move(share));
  --missing_;
  // The run's best may be newer than the share.
  for (Share& each : state.shares) {
    each.disturbed.slow = core_speed_.slow_rounds(each.canary_ns);
    for (PhaseTime& one : each.phases.rounds) one.slow = core_speed_.is_slow(one.canary_ns);
  }
  if (replaces_disturbed_ && state.shares.size() >= replicas_) leave_out_disturbed(state);
  if (state.shares.size() >= replicas_) {
    record_numbers(cell);
  } else {
    // A line of the journal has at least as many workers as the one before.
    if (state.left_out.empty()) journal_.append(numbers_of(cell));
    cover(cell);
  }
}

void Ledger::leave_out_disturbed(CellState& state) {
  std::vector<Share>& shares = state.shares;
  const auto keep_phases = [&](const Share& share) {
    if (!share.phases.rounds.empty()) state.other_phases.push_back(share.phases);
  };
  for (auto share = shares.begin(); share != shares.end();) {
    if (had_slow_core(*share) && state.left_out.size() < replicas_) {
      keep_phases(*share);
      state.left_out.push_back(std::move(*share));
      share = shares.erase(share);
      ++missing_;
    } else {
      ++share;
    }
  }
  if (shares.size() < replicas_ || !state.left_out.empty()) return;
  // The warning is in the journal, so a resumed run replaces no second worker.
  if (has(state.verdict->warnings, kReplaced)) return;
  if (const auto disturbed = disturbed_share(shares)) {
    keep_phases(shares[*disturbed]);
    shares.erase(shares.begin() + static_cast<std::ptrdiff_t>(*disturbed));
    ++missing_;
    warn_of_replaced(*state.verdict);
  }
}

void Ledger::failed(std::size_t cell, const Failure& failure) {
  CellState& state = cells_[cell];
  if (state.recorded) return;
  if (state.verdict) {
    warn(state.verdict->warnings, "later-worker", "a later worker failed: " + failure.reason,
         {{"outcome", std::string(to_string(failure.outcome))}});
    record_numbers(cell);
    return;
  }
  record(cell, failed_entry(plan_.cells[cell], failure));
}

void Ledger::untimed(std::size_t cell, const Entry& verdict) {
  CellState& state = cells_[cell];
  if (state.recorded) return;
  if (state.verdict) {
    record_numbers(cell);
    return;
  }
  Entry entry = verdict;
  entry.cell = plan_.cells[cell];
  entry.found = verdict.outcome;
  entry.outcome = Outcome::not_run;
  entry.code = codes::kUntimed;
  const bool inconclusive = entry.cell.exchange.bytes == 0 && *entry.found == Outcome::unproven;
  entry.reason = std::string(to_string(*entry.found)) + ", not timed: ";
  entry.reason += inconclusive ? "an array without elements cannot be judged"
                               : std::string("same outcome as ") + plan::kBaseline;
  record(cell, entry);
}

void Ledger::below(std::size_t cell, const Entry& verdict, const Bound& bound,
                   const DeviceTimer& timer, std::uint64_t iterations) {
  CellState& state = cells_[cell];
  if (state.recorded) return;
  const std::string limit = format_duration(bound.limit_ns);
  const std::string reason =
      "below " + format_duration(bound.ns) + ": a row of " + std::to_string(iterations) +
      " exchanges cannot be distinguished from an empty row, because " +
      (bound.limit == "rounds" ? "the rounds scatter: their 95 % interval is " + limit + " wide"
       : bound.limit == "empty-rows" ? "empty rows scatter by " + limit
                                     : "the device's timer has steps of " + limit);
  if (state.verdict) {
    warn(state.verdict->warnings, "later-worker", "a later worker: " + reason,
         {{"outcome", "unsupported"}});
    record_numbers(cell);
    return;
  }
  Entry entry = verdict;
  entry.cell = plan_.cells[cell];
  entry.found = verdict.outcome;
  entry.outcome = Outcome::unsupported;
  entry.code = codes::kBelowResolution;
  entry.reason = reason;
  entry.below_ns = bound.ns;
  entry.data["limit"] = bound.limit;
  entry.device_timer = timer;
  record(cell, entry);
}

void Ledger::close(std::string_view code, const std::string& reason) {
  for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
    if (cells_[cell].recorded) continue;
    if (cells_[cell].verdict) {
      record_numbers(cell);
      continue;
    }
    journal_.append(
        failed_entry(plan_.cells[cell], {Outcome::not_run, "", reason, std::string(code)}));
  }
}

Entry Ledger::numbers_of(std::size_t cell) const {
  Entry entry = *cells_[cell].verdict;
  entry.cell = plan_.cells[cell];
  fill_numbers(entry, cells_[cell].shares, cells_[cell].other_phases);
  return entry;
}

void Ledger::record_numbers(std::size_t cell) {
  CellState& state = cells_[cell];
  // No worker with the whole core took their place.
  while (state.shares.size() < replicas_ && !state.left_out.empty()) {
    state.shares.push_back(std::move(state.left_out.back()));
    state.left_out.pop_back();
    --missing_;
  }
  if (!state.left_out.empty()) warn_of_replaced(*state.verdict);
  record(cell, numbers_of(cell));
}

void Ledger::record(std::size_t cell, const Entry& entry) {
  missing_ -= replicas_ - shares(cell);
  journal_.append(entry);
  cells_[cell].recorded = true;
  cells_[cell].shares = {};
  cells_[cell].left_out = {};
  cells_[cell].other_phases = {};
  cells_[cell].verdict.reset();
  ++recorded_;
  if (is_measured(entry.outcome)) ++numbers_;
  observer_.recorded(entry);
  cover(cell);
}

void Ledger::cover(std::size_t cell) {
  if (std::exchange(cells_[cell].covered, true)) return;
  if (--uncovered_ == 0 && missing_ > 0) observer_.covered();
}

}  // namespace dlbench::supervisor
