#include "fleet/numbers.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "stats/shape.hpp"
#include "stats/stats.hpp"

namespace dlbench::fleet {
namespace {

/// Of so many rounds, are these more than chance disturbs? The median bears the others.
bool are_many(std::size_t disturbed, std::size_t rounds) {
  return disturbed >= 3 && 3 * disturbed >= rounds;
}

/// Of one of so many workers.
void warn_of(const Share& share, std::size_t workers, std::vector<std::string>& warnings) {
  const std::vector<double>& ns = share.numbers.samples_ns;
  const Disturbed& disturbed = share.disturbed;
  const std::array<std::pair<const char*, bool>, 7> checks{
      {{"few rounds", ns.size() < kCoarseRounds},
       {"bimodal", stats::is_bimodal(ns)},
       {"drift", stats::drifts(ns, workers)},
       {"migrated core", are_many(disturbed.moved, ns.size())},
       {"preempted", are_many(disturbed.preempted, ns.size())},
       {"slow CPU", are_many(disturbed.slow, ns.size())},
       {"host behind", are_many(disturbed.behind, ns.size())}}};
  for (const auto& [warning, fires] : checks) {
    if (fires && std::count(warnings.begin(), warnings.end(), warning) == 0) {
      warnings.emplace_back(warning);
    }
  }
}

/// "zero-copy in 2, copy in 1"; empty where all workers have one word.
std::string disagreement(std::span<const Share> shares) {
  std::map<Outcome, std::size_t> workers;
  for (const Share& share : shares) {
    if (share.numbers.outcome) ++workers[*share.numbers.outcome];
  }
  std::string text;
  if (workers.size() < 2) return text;
  for (const auto& [outcome, count] : workers) {
    if (!text.empty()) text += ", ";
    text += std::string(to_string(outcome)) + " in " + std::to_string(count);
  }
  return text;
}

/// Did this worker find what the cell says?
bool agrees(const Share& share, const Entry& entry) {
  return share.numbers.outcome.value_or(entry.outcome) == entry.outcome;
}

bool are_equal(const std::vector<double>& numbers) {
  return std::adjacent_find(numbers.begin(), numbers.end(), std::not_equal_to<>()) == numbers.end();
}

}  // namespace

bool is_enough(const Samples& samples) {
  return samples.ns.size() >= kCoarseRounds || (samples.ns.size() >= 3 && samples.spent_ns >= 2e9);
}

DeviceTimer device_timer(const Samples& samples) {
  return {samples.step_ns, stats::median(samples.empty_ns), 3 * stats::mad(samples.empty_ns)};
}

std::optional<double> below_resolution_ns(const Samples& samples) {
  if (samples.clock != "device") return std::nullopt;
  const double resolution = resolution_ns(device_timer(samples), samples.iterations);
  const stats::Interval interval = stats::rounds_interval(samples.ns);
  if (interval.lo >= resolution) return std::nullopt;
  return std::max(resolution, interval.hi);
}

std::size_t slow_rounds(const Samples& samples, double best_canary_ns) {
  constexpr double kSlow = 1.5;
  return static_cast<std::size_t>(
      std::count_if(samples.canary_ns.begin(), samples.canary_ns.end(),
                    [=](double ns) { return ns > kSlow * best_canary_ns; }));
}

void fill_numbers(Entry& entry, std::span<const Share> shares) {
  std::vector<double> medians, cpu, floors, data, iterations, all, steps, empty, scatter;
  std::vector<const PhaseRounds*> phases;
  entry.lo_ns = std::numeric_limits<double>::infinity();
  entry.hi_ns = 0;
  entry.workers.clear();
  for (const Share& share : shares) {
    const std::vector<double>& ns = share.numbers.samples_ns;
    const stats::Interval interval = stats::rounds_interval(ns);
    entry.lo_ns = std::min(entry.lo_ns, interval.lo);
    entry.hi_ns = std::max(entry.hi_ns, interval.hi);
    warn_of(share, shares.size(), entry.warnings);
    medians.push_back(share.numbers.median_ns);
    cpu.push_back(share.cpu_ns);
    if (share.floor_ns > 0) floors.push_back(share.floor_ns);
    if (share.data_ns > 0 && agrees(share, entry)) data.push_back(share.data_ns);
    all.insert(all.end(), ns.begin(), ns.end());
    entry.workers.push_back(share.numbers);
    entry.workers.back().iterations = share.iterations;
    iterations.push_back(static_cast<double>(share.iterations));
    if (!share.phases.rounds.empty()) phases.push_back(&share.phases);
    if (share.device_timer) {
      steps.push_back(share.device_timer->step_ns);
      empty.push_back(share.device_timer->empty_ns);
      scatter.push_back(share.device_timer->scatter_ns);
    }
  }
  if (!steps.empty()) {
    entry.device_timer = {*std::max_element(steps.begin(), steps.end()), stats::median(empty),
                          *std::max_element(scatter.begin(), scatter.end())};
  }
  if (const std::string told = disagreement(shares); !told.empty()) {
    entry.warnings.push_back("workers disagree: " + told);
  } else {
    for (WorkerNumbers& worker : entry.workers) worker.outcome.reset();
  }
  entry.iterations = static_cast<std::uint64_t>(stats::median(iterations));
  if (are_equal(iterations)) {
    for (WorkerNumbers& worker : entry.workers) worker.iterations.reset();
  }
  entry.median_ns = stats::median(medians);
  entry.mad_ns = stats::mad(all);
  entry.cpu_ns = stats::median(cpu);
  if (!floors.empty()) entry.floor_ratio = entry.median_ns / stats::median(floors);
  if (!phases.empty()) {
    entry.bill = bill_of(phases);
    for (std::string& doubt : doubts(*entry.bill, phases)) {
      entry.warnings.push_back(std::move(doubt));
    }
  }
  const bool copied = entry.outcome == Outcome::copy || entry.outcome == Outcome::device_copy;
  if (copied && !data.empty() && entry.cell.exchange.bytes > 0) {
    entry.gb_per_s = static_cast<double>(entry.cell.exchange.bytes) / stats::median(data);
  }
}

}  // namespace dlbench::fleet
