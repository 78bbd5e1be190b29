#include "results/slope.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "model/judge.hpp"
#include "model/names.hpp"

namespace dlbench::results {
namespace {

constexpr double kFastest = 16;  // times the warm floor, for copies within a core's caches
// A lower bound, because a floor that was measured on a busy machine is too low.
constexpr double kLeastFastest = 100;  // GB/s
constexpr double kUndecided = 2;  // a growth within this factor of a copy's time decides nothing

/// The key of an exchange without its bytes.
using Family =
    std::tuple<std::string, std::string, std::string, std::string, std::string, std::string>;

Family family_of(const Exchange& x) {
  return {x.environment, x.producer, x.consumer, x.protocol, x.device, x.case_name};
}

/// The entry with the time until the data was complete, by size.
using Sizes = std::map<std::uint64_t, const Entry*>;

std::map<Family, Sizes> exchanges_in(const std::vector<Entry>& entries) {
  std::map<Family, bool> waits;
  for (const Entry& entry : entries) {
    waits[family_of(entry.cell.exchange)] |= entry.has_ready || entry.cell.clock == Clock::ready;
  }
  std::map<Family, Sizes> all;
  for (const Entry& entry : entries) {
    const Exchange& x = entry.cell.exchange;
    if (!is_measured(entry.outcome) || entry.cell.phase != Phase::exchange || x.device != "cpu" ||
        is_dispatch(x.protocol) || x.protocol == Protocol::call) {
      continue;
    }
    const Family family = family_of(x);
    if (entry.cell.clock == (waits[family] ? Clock::ready : Clock::call))
      all[family][x.bytes] = &entry;
  }
  return all;
}

Proof slope_between(const Entry& small, const Entry& large, double fastest_gb_per_s) {
  const auto bytes = static_cast<double>(large.cell.exchange.bytes);
  const double whole_ns = bytes / fastest_gb_per_s;
  if (large.hi_ns < whole_ns / kUndecided) return Proof::yes;
  const double more = bytes - static_cast<double>(small.cell.exchange.bytes);
  const double copy_ns = more / fastest_gb_per_s;
  const double growth = large.median_ns - small.median_ns;
  const double up = std::hypot(large.hi_ns - large.median_ns, small.median_ns - small.lo_ns);
  const double down = std::hypot(large.median_ns - large.lo_ns, small.hi_ns - small.median_ns);
  if (growth - down > copy_ns) return Proof::no;
  // A time that decreases with the size does not fit this model.
  if (growth + up < -copy_ns / kUndecided) return Proof::skipped;
  return growth + up < copy_ns / kUndecided ? Proof::yes : Proof::skipped;
}

Proof slope_at(const Sizes& sizes, std::uint64_t bytes, const CopySpeed& speed) {
  if (bytes < kLeastSlopeBytes || !(speed.warm_gb_per_s > 0)) return Proof::skipped;
  const auto large = sizes.find(bytes);
  const auto& [least, small] = *sizes.begin();
  if (large == sizes.end() || least > bytes / 2) return Proof::skipped;
  const double times = std::max(kFastest, static_cast<double>(speed.cores));
  const double fastest = std::max(kLeastFastest, speed.warm_gb_per_s * times);
  return slope_between(*small, *large->second, fastest);
}

// If only the slope decides, a changed dtype may be a conversion, which is a copy, or only another
// name.
bool may_share(const Entry& entry) {
  return std::none_of(entry.changed.begin(), entry.changed.end(), [](const std::string& word) {
    return word == "precision" || word == "dtype";
  });
}

// Some libraries keep the copy of the first call and return it again, as JAX does for dtypes that
// it packs.
bool may_be_kept(const Entry& entry, const CopySpeed& speed) {
  const double copy_ns = static_cast<double>(entry.cell.exchange.bytes) / speed.warm_gb_per_s;
  return std::any_of(entry.workers.begin(), entry.workers.end(),
                     [&](const WorkerNumbers& worker) { return worker.first_ns > copy_ns; });
}

void judge_again(Entry& entry, const Entry& timed, const CopySpeed& speed) {
  const Evidence& evidence = entry.evidence;
  const bool alone = evidence.guard == Proof::skipped && evidence.write == Proof::skipped &&
                     evidence.address == Proof::skipped;
  const Verdict verdict =
      judge(evidence, entry.outcome == Outcome::device_copy, !alone || may_share(entry));
  warn(entry.warnings, verdict.warnings);
  if (!alone || entry.outcome != Outcome::unproven || has(entry.warnings, "values-not-checked"))
    return;
  if (verdict.outcome == Outcome::zero_copy && may_be_kept(timed, speed)) {
    warn(entry.warnings, "first-copy",
         "the time is that of no copy, but a first call took longer than one: unproven");
    return;
  }
  entry.outcome = verdict.outcome;
  if (entry.outcome == Outcome::copy && !entry.gb_per_s) {
    entry.gb_per_s = static_cast<double>(entry.cell.exchange.bytes) / timed.median_ns;
  }
}

}  // namespace

void judge_slopes(std::vector<Entry>& entries, const std::map<std::string, CopySpeed>& speeds) {
  const std::map<Family, Sizes> exchanges = exchanges_in(entries);
  std::vector<std::pair<Entry*, Proof>> found;
  for (Entry& entry : entries) {
    const Exchange& x = entry.cell.exchange;
    const auto sizes = exchanges.find(family_of(x));
    const auto speed = speeds.find(x.environment);
    if (!is_measured(entry.outcome) || sizes == exchanges.end() || speed == speeds.end()) continue;
    found.emplace_back(&entry, slope_at(sizes->second, x.bytes, speed->second));
  }
  for (const auto& [entry, proof] : found) {
    if (proof == Proof::skipped) continue;
    entry->evidence.slope = proof;
    const Exchange& x = entry->cell.exchange;
    judge_again(*entry, *exchanges.at(family_of(x)).at(x.bytes), speeds.at(x.environment));
  }
}

}  // namespace dlbench::results
