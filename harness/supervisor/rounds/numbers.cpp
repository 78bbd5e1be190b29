#include "supervisor/rounds/numbers.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "stats/shape.hpp"
#include "stats/stats.hpp"

namespace dlbench::supervisor {
namespace {

struct Check {
  codes::WarningCode code;
  bool fires;
};

/// Adds the warnings about one worker's share, of `workers` workers.
void warn_of(const Share& share, std::size_t workers, Warnings& warnings) {
  const std::vector<double>& ns = share.numbers.samples_ns;
  const Disturbed& disturbed = share.disturbed;
  const std::array<Check, 7> checks{
      {{"few-rounds", ns.size() < kCoarseRounds},
       {"bimodal", stats::is_bimodal(ns)},
       {"drift", stats::drifts(ns, workers)},
       {"migrated-core", are_many(disturbed.moved, ns.size())},
       {"preempted", are_many(disturbed.preempted, ns.size())},
       {"slow-cpu", had_slow_core(share)},
       {"host-behind", are_many(disturbed.behind, ns.size() + disturbed.behind)}}};
  for (const Check& check : checks) {
    if (check.fires) warn(warnings, check.code);
  }
}

/// Warns "zero-copy in 2, copy in 1" if the workers have different outcomes.
bool warn_of_disagreement(std::span<const Share> shares, Warnings& warnings) {
  std::map<Outcome, std::size_t> workers;
  for (const Share& share : shares) {
    if (share.numbers.outcome) ++workers[*share.numbers.outcome];
  }
  std::string text;
  Warning::Data data;
  if (workers.size() < 2) return false;
  for (const auto& [outcome, count] : workers) {
    if (!text.empty()) text += ", ";
    const std::string number = std::to_string(count);
    text += std::string(to_string(outcome)) + " in " + number;
    data.emplace(to_string(outcome), number);
  }
  warn(warnings, "workers-disagree", "workers disagree: " + text, std::move(data));
  return true;
}

/// Did this worker find the cell's outcome?
bool agrees(const Share& share, const Entry& entry) {
  return share.numbers.outcome.value_or(entry.outcome) == entry.outcome;
}

bool are_equal(const std::vector<double>& numbers) {
  return std::adjacent_find(numbers.begin(), numbers.end(), std::not_equal_to<>()) == numbers.end();
}

/// The most by which the workers of a quiet machine differ.
constexpr double kFar = 1.25;

/// Was a worker as fast as the others in some rounds, while none of theirs was as slow as its
/// median? Then its process is not slow; something beside it was, such as the memory.
bool is_unsteady(const WorkerNumbers& worker, double median_of_others,
                 const std::vector<double>& rounds_of_others) {
  return std::ranges::min(worker.samples_ns) <= median_of_others &&
         std::ranges::max(rounds_of_others) < worker.median_ns;
}

}  // namespace

std::optional<double> core_ns(std::vector<double> canary_ns) {
  std::ranges::sort(canary_ns);
  if (canary_ns.empty() || !(canary_ns.front() > 0)) return std::nullopt;
  const std::size_t half = (canary_ns.size() + 1) / 2;
  const double sum = std::accumulate(canary_ns.begin(),
                                     canary_ns.begin() + static_cast<std::ptrdiff_t>(half), 0.0);
  return sum / static_cast<double>(half);
}

bool are_many(std::size_t disturbed, std::size_t rounds) {
  return disturbed >= 3 && 3 * disturbed >= rounds;
}

std::size_t CoreSpeed::slow_rounds(std::span<const double> canary_ns) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(canary_ns, [this](double ns) { return is_slow(ns); }));
}

bool had_slow_core(const Share& share) {
  return are_many(share.disturbed.slow, share.numbers.samples_ns.size());
}

std::optional<std::size_t> disturbed_share(std::span<const Share> shares) {
  if (shares.size() < kFewestComparable) return std::nullopt;
  const auto slowest = std::max_element(
      shares.begin(), shares.end(),
      [](const Share& a, const Share& b) { return a.numbers.median_ns < b.numbers.median_ns; });
  std::vector<double> others, rounds_of_others;
  for (const Share& share : shares) {
    if (share.numbers.outcome != slowest->numbers.outcome) return std::nullopt;
    if (&share == &*slowest) continue;
    others.push_back(share.numbers.median_ns);
    const std::vector<double>& ns = share.numbers.samples_ns;
    rounds_of_others.insert(rounds_of_others.end(), ns.begin(), ns.end());
  }
  const double usual = stats::median(others);
  const Disturbed& disturbed = slowest->disturbed;
  const std::size_t rounds = slowest->numbers.samples_ns.size();
  const bool is_explained = are_many(disturbed.moved, rounds) ||
                            are_many(disturbed.preempted, rounds) ||
                            is_unsteady(slowest->numbers, usual, rounds_of_others);
  if (!is_explained || slowest->numbers.median_ns <= kFar * usual) return std::nullopt;
  return static_cast<std::size_t>(slowest - shares.begin());
}

bool is_enough(const Samples& samples) {
  const std::size_t used = samples.ns.size();
  if (used + samples.behind >= kCoarseRounds) return used >= kFewestRounds;
  return used >= samples.fewest_long && samples.spent_ns >= 2e9;
}

bool is_host_late(const Samples& samples) {
  return samples.ns.size() < kFewestRounds && samples.behind > kCoarseRounds - kFewestRounds;
}

DeviceTimer device_timer(const Samples& samples) {
  return {samples.step_ns, stats::median(samples.empty_ns), 3 * stats::mad(samples.empty_ns)};
}

std::optional<Bound> below_resolution(const Samples& samples) {
  if (samples.clock != Clock::device) return std::nullopt;
  const DeviceTimer timer = device_timer(samples);
  const double resolution = resolution_ns(timer, samples.iterations);
  const stats::Interval interval = stats::rounds_interval(samples.ns);
  if (interval.lo >= resolution) return std::nullopt;
  const double width = interval.hi - interval.lo;
  const bool is_final = interval.hi <= resolution;
  const double bound = std::max(interval.hi, resolution);
  // The rounds themselves, not the timer, keep this from being a time.
  if (!is_final && (interval.lo <= 0 || width / 2 > resolution)) {
    return Bound{bound, "rounds", width, false};
  }
  if (timer.scatter_ns > 2 * timer.step_ns) {
    return Bound{bound, "empty-rows", timer.scatter_ns, is_final};
  }
  return Bound{bound, "step", timer.step_ns, is_final};
}

void fill_numbers(Entry& entry, std::span<const Share> shares,
                  std::span<const PhaseRounds> other_phases) {
  std::vector<double> medians, cpu, floors, data, iterations, all, steps, empty, scatter;
  std::vector<const PhaseRounds*> phases;
  for (const Share& share : shares) {
    if (!share.phases.rounds.empty()) phases.push_back(&share.phases);
  }
  for (std::size_t i = 0; phases.size() <= i && i < other_phases.size(); ++i) {
    phases.push_back(&other_phases[i]);
  }
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
  if (!warn_of_disagreement(shares, entry.warnings)) {
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
    entry.breakdown = breakdown_of(phases);
    warn(entry.warnings, doubts(*entry.breakdown, phases));
  }
  const bool copied = entry.outcome == Outcome::copy || entry.outcome == Outcome::device_copy;
  // A call copies some of its arrays, and its time is not that of the copies.
  const bool is_call = entry.cell.exchange.protocol == Protocol::call;
  if (copied && !is_call && !data.empty() && entry.cell.exchange.bytes > 0) {
    entry.gb_per_s = static_cast<double>(entry.cell.exchange.bytes) / stats::median(data);
  }
}

}  // namespace dlbench::supervisor
