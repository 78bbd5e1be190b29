#include "results/interval.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "stats/stats.hpp"

namespace dlbench::results {
namespace {

constexpr double kNearFloor = 2;

void warn(Entry& entry, const char* warning) {
  const auto there = std::find(entry.warnings.begin(), entry.warnings.end(), warning);
  if (there == entry.warnings.end()) entry.warnings.emplace_back(warning);
}

void widen(Entry& entry, double relative) {
  const double between = relative * entry.median_ns;
  const double below = std::max(0.0, entry.median_ns - entry.lo_ns);
  const double above = std::max(0.0, entry.hi_ns - entry.median_ns);
  entry.lo_ns = std::max(0.0, entry.median_ns - std::hypot(below, between));
  entry.hi_ns = entry.median_ns + std::hypot(above, between);
}

void move_median(Entry& entry, double median) {
  const double change = median / entry.median_ns;
  entry.median_ns = median;
  entry.floor_ratio *= change;
  if (entry.gb_per_s) *entry.gb_per_s /= change;
}

}  // namespace

void conclude(Entry& entry, std::optional<double> between) {
  bool honest = false;
  if (entry.workers.size() > 1) {
    std::vector<double> medians;
    for (const WorkerNumbers& worker : entry.workers) medians.push_back(worker.median_ns);
    move_median(entry, stats::median(medians));
    const stats::Interval interval = stats::median_interval(medians);
    entry.lo_ns = interval.lo;
    entry.hi_ns = interval.hi;
    honest = interval.honest;
  }
  if (!honest && between) widen(entry, *between);
  if (!between && entry.workers.size() <= 1) warn(entry, "one process");
  if (entry.floor_ratio > 0 && entry.floor_ratio < kNearFloor) warn(entry, "near floor");
}

}  // namespace dlbench::results
