#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/compare.hpp"
#include "stats/change.hpp"

namespace dlbench::results {

/// What a comparison keeps of an entry.
struct SideCell {
  std::string_view name;     ///< of the side's texts
  std::string_view machine;  ///< likewise
  std::string_view environment;
  Outcome outcome = Outcome::not_run;
  std::vector<Outcome> words;      ///< of workers that disagree, each once; else empty
  bool untimed_phase = false;      ///< whether there is such a phase is unknown
  double median_ns = 0;            ///< 0 where it was tried and not timed
  std::optional<double> below_ns;  ///< in place of a time: the exchange takes less
  std::string below_limit;         ///< `data.limit` of that
  std::optional<double> instructions;
  std::vector<std::string> changed;
  bool late_read = false;
  stats::MeasuredSide workers;

  /// What its workers found, each once, in the order of kOutcomes.
  std::vector<Outcome> all_words() const;
};

/// native -> native in the workers of a machine.
struct Reference {
  double median_ns = 0;
  std::size_t workers = 0;
  double spread = 0;
};

/// Whose reference it is: a machine, and an environment on it.
using Place = std::pair<std::string, std::string>;

/// A side as it was read.
struct Side {
  std::vector<SideCell> cells;            ///< sorted by name, each there once
  std::shared_ptr<Texts> texts;           ///< what names refer to
  nlohmann::json machines;                ///< by name, the facts that must be the same
  std::map<Place, Reference> references;  ///< of several documents that of the most workers
  std::map<std::string, nlohmann::json, std::less<>> requests;  ///< by machine, the options
  std::string build;
  SideFacts facts;
};

/// Reads a side. Throws UsageError.
Side read_side(const SideSource& source);

/// Throws UsageError naming what differs of the machines.
void require_same_machine(const Side& base, const Side& head);

}  // namespace dlbench::results
