#include "results/interval.hpp"

#include <string>

#include "stats/stopping.hpp"

namespace dlbench::results {
namespace {

void move_median(Entry& entry, double median) {
  const double change = median / entry.median_ns;
  entry.median_ns = median;
  entry.floor_ratio *= change;
  if (entry.gb_per_s) *entry.gb_per_s /= change;
}

}  // namespace

void conclude(Entry& entry, const stats::ProcessSpread& spread) {
  if (entry.workers.size() > 1) {
    stats::Series medians;
    for (const WorkerNumbers& worker : entry.workers) medians.push_back(worker.median_ns);
    move_median(entry, stats::median(medians));
    const stats::Interval interval = spread.interval(medians);
    entry.interval = "processes";
    entry.lo_ns = interval.lo;
    entry.hi_ns = interval.hi;
  } else {
    const bool honest =
        !entry.workers.empty() && stats::rounds_interval(entry.workers[0].samples_ns).honest;
    entry.interval = honest ? "within" : "range";
  }
  entry.between_half_width = spread.half_width(entry.median_ns);
  if (entry.workers.size() < 2 && !entry.between_half_width) warn(entry.warnings, "one-process");
  if (entry.floor_ratio > 0 && entry.floor_ratio < kNearFloor) warn(entry.warnings, "near-floor");
}

}  // namespace dlbench::results
