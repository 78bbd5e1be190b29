#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "results/compare.hpp"
#include "stats/change.hpp"

namespace dlbench::results {

/// What a comparison keeps of an entry.
struct SideCell {
  Cell cell;
  std::string machine;
  Outcome outcome = Outcome::not_run;
  double median_ns = 0;
  std::optional<double> instructions;
  std::vector<std::string> changed;
  bool late_read = false;
  stats::MeasuredSide workers;
};

/// A side as it was read.
struct Side {
  std::unordered_map<std::string, SideCell> cells;
  nlohmann::json machine;        ///< the facts that must be the same
  std::optional<double> anchor;  ///< median, ns
  std::size_t anchors = 0;
  double spread = 0;
  std::string build;
  SideFacts facts;
};

/// Reads a side. Throws UsageError.
Side read_side(const SideSource& source);

/// Throws UsageError naming what differs of the machines.
void require_same_machine(const Side& base, const Side& head);

}  // namespace dlbench::results
