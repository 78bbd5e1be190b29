#include "supervisor/rounds/phases.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "stats/stats.hpp"
#include "stats/stopping.hpp"
#include "supervisor/rounds/numbers.hpp"

namespace dlbench::supervisor {
namespace {

// The unexplained time that causes no warning: this share of the exchange, and the uncertainty of
// the proxy's own cost in ns.
constexpr double kShare = 0.05;
constexpr double kNs = 20;
// In a shorter exchange the uncertainty in ns is too large for a share.
constexpr double kShortNs = 250;

template <typename Value>
std::vector<double> over_rounds(std::span<const PhaseRounds* const> workers, Value value) {
  std::vector<double> all;
  for (const PhaseRounds* worker : workers) {
    for (const PhaseTime& round : worker->rounds) all.push_back(value(round));
  }
  return all;
}

/// "8 %", of a short exchange "25 ns".
std::string unexplained_of(const Breakdown& breakdown) {
  const double left = std::abs(breakdown.unexplained_ns);
  std::array<char, 32> text{};
  if (breakdown.exchange_ns < kShortNs)
    std::snprintf(text.data(), text.size(), "%.0f ns", left);
  else
    std::snprintf(text.data(), text.size(), "%.0f %%", 100 * left / breakdown.exchange_ns);
  return text.data();
}

}  // namespace

bool PhaseRounds::is_over() const {
  return std::all_of(cells.begin(), cells.end(), [](const Wanted& one) { return one.recorded; });
}

bool PhaseRounds::is_enough() const {
  return rounds.size() >= kCoarseRounds || (rounds.size() >= 3 && spent_ns >= 2e9);
}

double PhaseRounds::relative_half_width() const {
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  if (rounds.empty()) return kUnknown;
  const PhaseRounds* const self = this;
  const std::vector<double> left =
      over_rounds({&self, 1}, [](const PhaseTime& round) { return round.unexplained_ns; });
  const std::vector<double> whole =
      over_rounds({&self, 1}, [](const PhaseTime& round) { return round.exchange_ns; });
  const stats::Interval interval = stats::rounds_interval(left);
  return interval.honest ? (interval.hi - interval.lo) / 2 / stats::median(whole) : kUnknown;
}

std::vector<double> samples_of(const PhaseRounds& rounds, const std::string& phase) {
  std::vector<double> samples;
  for (const PhaseTime& round : rounds.rounds) {
    if (phase == Phase::import) samples.push_back(round.import_ns);
    if (phase == Phase::release) samples.push_back(round.release_ns);
    double sum = 0;
    bool present = false;
    for (std::size_t i = 0; i < rounds.calls.size(); ++i) {
      if (rounds.calls[i].phase != phase) continue;
      sum += round.calls_ns.at(i);
      present = true;
    }
    if (present) samples.push_back(sum);
  }
  return samples;
}

std::vector<double> canaries_of(const PhaseRounds& rounds) {
  const PhaseRounds* const one = &rounds;
  return over_rounds({&one, 1}, [](const PhaseTime& round) { return round.canary_ns; });
}

Breakdown breakdown_of(std::span<const PhaseRounds* const> workers) {
  const PhaseRounds& any = *workers.front();
  Breakdown breakdown;
  breakdown.via = any.via;
  breakdown.exchange_ns =
      stats::median(over_rounds(workers, [](const PhaseTime& one) { return one.exchange_ns; }));
  const std::vector<double> left =
      over_rounds(workers, [](const PhaseTime& one) { return one.unexplained_ns; });
  const stats::Interval interval = stats::rounds_interval(left);
  breakdown.unexplained_ns = stats::median(left);
  breakdown.unexplained_lo_ns = interval.lo;
  breakdown.unexplained_hi_ns = interval.hi;
  breakdown.parts = any.calls;
  for (std::size_t i = 0; i < breakdown.parts.size(); ++i) {
    breakdown.parts[i].ns = stats::median(over_rounds(workers, [i](const PhaseTime& one) {
      return i < one.calls_ns.size() ? one.calls_ns[i] : 0;
    }));
  }
  const double import_ns =
      stats::median(over_rounds(workers, [](const PhaseTime& one) { return one.import_ns; }));
  const double release_ns =
      stats::median(over_rounds(workers, [](const PhaseTime& one) { return one.release_ns; }));
  const bool is_call = any.via == kViaBody;
  breakdown.parts.push_back(
      {"import", is_call ? "until the body has its arguments" : "the consumer's own work",
       import_ns});
  breakdown.parts.push_back(
      {"release", is_call ? "from the body to the call's end" : "dropping the result", release_ns});
  return breakdown;
}

Warnings doubts(const Breakdown& breakdown, std::span<const PhaseRounds* const> workers) {
  Warnings all;
  const double share = std::abs(breakdown.unexplained_ns) / breakdown.exchange_ns;
  const bool is_sure = breakdown.unexplained_lo_ns > 0 || breakdown.unexplained_hi_ns < 0;
  if (is_sure && share > kShare && std::abs(breakdown.unexplained_ns) > kNs) {
    const bool more = breakdown.unexplained_ns > 0;
    warn(all, "phases-unexplained",
         "the phases do not explain " + unexplained_of(breakdown) + "; the exchange takes " +
             (more ? "longer" : "less time") + " than its phases together");
  }
  std::size_t slow = 0, rounds = 0;
  for (const PhaseRounds* worker : workers) {
    rounds += worker->rounds.size();
    slow += static_cast<std::size_t>(std::ranges::count_if(worker->rounds, &PhaseTime::slow));
  }
  if (are_many(slow, rounds)) {
    const std::string some = std::to_string(slow), of = std::to_string(rounds);
    warn(all, "phases-slow-cpu", "slow CPU in " + some + " of " + of + " rounds of its phases",
         {{"slow", some}, {"rounds", of}});
  }
  return all;
}

}  // namespace dlbench::supervisor
