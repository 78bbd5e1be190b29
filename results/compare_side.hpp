#pragma once

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/compare.hpp"
#include "stats/change.hpp"

namespace dlbench::results {

/// What a comparison keeps of an entry.
struct SideCell {
  std::string_view name;     ///< of the side's texts
  std::string_view machine;  ///< likewise
  Outcome outcome = Outcome::not_run;
  std::vector<Outcome> words;  ///< of workers that disagree, each once; else empty
  bool untimed_phase = false;  ///< nobody knows whether there is such a phase
  double median_ns = 0;        ///< 0 where it was tried and not timed
  std::optional<double> instructions;
  std::vector<std::string> changed;
  bool late_read = false;
  stats::MeasuredSide workers;

  /// What its workers found, each once, in the order of kOutcomes.
  std::vector<Outcome> all_words() const;
};

/// native -> native in the workers of a machine.
struct Anchor {
  double median_ns = 0;
  std::size_t workers = 0;
  double spread = 0;
};

/// A side as it was read.
struct Side {
  std::vector<SideCell> cells;                         ///< sorted by name, each there once
  std::shared_ptr<Texts> texts;                        ///< what names refer to
  nlohmann::json machines;                             ///< by name, the facts that must be the same
  std::map<std::string, Anchor, std::less<>> anchors;  ///< by machine; that of the most workers
  std::string build;
  SideFacts facts;
};

/// Reads a side. Throws UsageError.
Side read_side(const SideSource& source);

/// Throws UsageError naming what differs of the machines.
void require_same_machine(const Side& base, const Side& head);

}  // namespace dlbench::results
