#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/comparison/compare.hpp"
#include "stats/change.hpp"

namespace dlbench::results {

/// A machine and an environment on it.
using Place = std::pair<std::string, std::string>;

/// The part of an entry that a comparison needs.
struct SideCell {
  std::string_view name;         ///< refers to the side's texts
  const Place* place = nullptr;  ///< of the side's places
  Outcome outcome = Outcome::not_run;
  std::vector<Outcome> words;      ///< different outcomes of workers that disagree; otherwise empty
  bool untimed_phase = false;      ///< the phase was not timed and may not exist
  double median_ns = 0;            ///< 0 if it was exchanged but not timed
  std::optional<double> below_ns;  ///< upper bound instead of a time
  std::string below_limit;         ///< `data.limit` of the bound
  std::optional<double> instructions;
  std::vector<std::string> changed;
  bool late_read = false;
  stats::MeasuredSide workers;
  /// The speed of each worker's core; 0 if it is unknown or does not determine the time.
  std::vector<double> cores_ns;
  bool at_one_speed = false;  ///< its times and those of the other side are at one speed

  /// The different outcomes of its workers, in the order of kOutcomes.
  std::vector<Outcome> all_words() const;
};

/// The reference exchange, native -> native, in the workers of a machine.
struct Reference {
  double median_ns = 0;
  std::size_t workers = 0;
  double spread = 0;
  std::optional<double> core_ns;  ///< as `workers[].core_ns`, of its rounds
};

/// A side as read from its documents.
struct Side {
  std::vector<SideCell> cells;            ///< sorted by name, without duplicates
  std::shared_ptr<Texts> texts;           ///< the memory that names refer to
  std::set<Place> places;                 ///< of its cells
  nlohmann::json machines;                ///< the facts that must be equal, by name
  std::map<Place, Reference> references;  ///< over several documents the one with the most workers
  std::map<std::string, nlohmann::json, std::less<>> requests;  ///< the options, by machine
  std::string build;
  SideFacts facts;
};

/// Reads a side. Throws UsageError.
Side read_side(const SideSource& source);

/// Throws UsageError naming the facts that differ.
void require_same_machine(const Side& base, const Side& head);

}  // namespace dlbench::results
