#include "fleet/numbers.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "stats/stats.hpp"

namespace dlbench::fleet {

bool is_enough(const Samples& samples) {
  return samples.ns.size() >= kCoarseRounds || (samples.ns.size() >= 3 && samples.spent_ns >= 2e9);
}

double relative_half_width(const Samples& samples) {
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  if (samples.ns.empty()) return kUnknown;
  const stats::Interval interval = stats::median_interval(samples.ns);
  const double median = stats::median(samples.ns);
  return interval.honest && median > 0 ? (interval.hi - interval.lo) / 2 / median : kUnknown;
}

void fill_numbers(Entry& entry, std::span<const Share> shares) {
  std::vector<double> medians, cpu, floors, data, all;
  bool few = false;
  entry.lo_ns = std::numeric_limits<double>::infinity();
  entry.hi_ns = 0;
  entry.workers.clear();
  for (const Share& share : shares) {
    const std::vector<double>& ns = share.numbers.samples_ns;
    const stats::Interval interval = stats::median_interval(ns);
    entry.lo_ns = std::min(entry.lo_ns, interval.lo);
    entry.hi_ns = std::max(entry.hi_ns, interval.hi);
    few = few || ns.size() < kCoarseRounds;
    medians.push_back(share.numbers.median_ns);
    cpu.push_back(share.cpu_ns);
    if (share.floor_ns > 0) floors.push_back(share.floor_ns);
    if (share.data_ns > 0) data.push_back(share.data_ns);
    all.insert(all.end(), ns.begin(), ns.end());
    entry.workers.push_back(share.numbers);
    entry.iterations = share.iterations;
  }
  if (few) entry.warnings.emplace_back("few rounds");
  entry.median_ns = stats::median(medians);
  entry.mad_ns = stats::mad(all);
  entry.cpu_ns = stats::median(cpu);
  if (!floors.empty()) entry.floor_ratio = entry.median_ns / stats::median(floors);
  const bool copied = entry.outcome == Outcome::copy || entry.outcome == Outcome::device_copy;
  if (copied && !data.empty() && entry.cell.exchange.bytes > 0) {
    entry.gb_per_s = static_cast<double>(entry.cell.exchange.bytes) / stats::median(data);
  }
}

}  // namespace dlbench::fleet
