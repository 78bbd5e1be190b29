#include "fleet/ledger.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <unordered_map>
#include <utility>

namespace dlbench::fleet {

Ledger::Ledger(const plan::Plan& plan, const results::JournalContents& before, int replicas,
               results::Journal& journal, Observer& observer)
    : plan_(plan),
      cells_(plan.cells.size()),
      replicas_(static_cast<std::size_t>(replicas)),
      journal_(journal),
      observer_(observer) {
  std::unordered_map<std::string, Outcome> done;
  for (const Entry& entry : before.entries) {
    if (is_final(entry)) done.emplace(name(entry.cell), entry.outcome);
  }
  if (done.empty()) return;
  for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
    const auto found = done.find(name(plan.cells[cell]));
    if (found == done.end()) continue;
    cells_[cell].settled = true;
    ++settled_;
    if (is_measured(found->second)) ++numbers_;
  }
}

void Ledger::measured(std::size_t cell, const Entry& verdict, Share share) {
  Record& record = cells_[cell];
  if (record.settled) return;
  if (!record.partial) record.partial = std::make_unique<Partial>();
  Partial& partial = *record.partial;
  std::vector<std::string> warnings = verdict.warnings;
  for (const std::string& warning : partial.verdict.warnings) {
    if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end()) {
      warnings.push_back(warning);
    }
  }
  const Outcome earlier = partial.shares.empty() ? verdict.outcome : partial.verdict.outcome;
  if (dearer(earlier, verdict.outcome) == verdict.outcome) partial.verdict = verdict;
  partial.verdict.warnings = std::move(warnings);
  share.numbers.outcome = verdict.outcome;
  partial.shares.push_back(std::move(share));
  if (partial.shares.size() >= replicas_) settle_numbers(cell);
}

void Ledger::failed(std::size_t cell, const Trouble& trouble) {
  Record& record = cells_[cell];
  if (record.settled) return;
  if (record.partial) {
    record.partial->verdict.warnings.push_back("a later worker: " + trouble.reason);
    settle_numbers(cell);
    return;
  }
  Entry entry;
  entry.cell = plan_.cells[cell];
  entry.outcome = trouble.outcome;
  entry.reason = trouble.reason;
  entry.exception = trouble.exception;
  entry.signal = trouble.signal;
  entry.stderr_tail = trouble.stderr_tail;
  entry.code = trouble.code;
  entry.imports = trouble.imports;
  settle(cell, entry);
}

void Ledger::untimed(std::size_t cell, const Entry& verdict) {
  Record& record = cells_[cell];
  if (record.settled) return;
  if (record.partial) {
    settle_numbers(cell);
    return;
  }
  Entry entry = verdict;
  entry.cell = plan_.cells[cell];
  entry.found = verdict.outcome;
  entry.outcome = Outcome::not_run;
  entry.code = "untimed";
  const bool blind = entry.cell.exchange.bytes == 0 && *entry.found == Outcome::unproven;
  entry.reason = std::string(to_string(*entry.found)) + ", not timed: ";
  entry.reason += blind ? "an array without elements shows nothing"
                        : std::string("it ends as ") + plan::kBaseline + " does";
  settle(cell, entry);
}

void Ledger::below(std::size_t cell, const Entry& verdict, double below_ns,
                   const DeviceTimer& timer, std::uint64_t iterations) {
  Record& record = cells_[cell];
  if (record.settled) return;
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(),
                "below %.3g ns: the device's timer, with steps of %.4g ns, does not tell a row of "
                "%llu from an empty row",
                below_ns, timer.step_ns, static_cast<unsigned long long>(iterations));
  if (record.partial) {
    record.partial->verdict.warnings.push_back(std::string("a later worker: ") + text.data());
    settle_numbers(cell);
    return;
  }
  Entry entry = verdict;
  entry.cell = plan_.cells[cell];
  entry.found = verdict.outcome;
  entry.outcome = Outcome::unsupported;
  entry.code = "below-resolution";
  entry.reason = text.data();
  entry.below_ns = below_ns;
  entry.device_timer = timer;
  settle(cell, entry);
}

void Ledger::close(const std::string& code, const std::string& reason) {
  for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
    if (cells_[cell].settled) continue;
    if (cells_[cell].partial) {
      settle_numbers(cell);
      continue;
    }
    Entry entry;
    entry.cell = plan_.cells[cell];
    entry.outcome = Outcome::not_run;
    entry.code = code;
    entry.reason = reason;
    journal_.append(entry);
  }
}

void Ledger::settle_numbers(std::size_t cell) {
  Entry entry = cells_[cell].partial->verdict;
  entry.cell = plan_.cells[cell];
  fill_numbers(entry, cells_[cell].partial->shares);
  settle(cell, entry);
}

void Ledger::settle(std::size_t cell, const Entry& entry) {
  journal_.append(entry);
  cells_[cell] = {true, nullptr};
  ++settled_;
  if (is_measured(entry.outcome)) ++numbers_;
  observer_.settled(entry);
}

}  // namespace dlbench::fleet
