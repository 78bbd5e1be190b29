#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/cell.hpp"
#include "model/outcome.hpp"
#include "model/warning.hpp"
#include "results/texts.hpp"
#include "stats/change.hpp"

namespace dlbench::results {

/// Where a side's numbers are: one document, or several whose workers are put together. With an
/// environment only its cells take part, named as if it were the only one.
struct SideSource {
  std::vector<std::filesystem::path> documents;
  std::string environment;
};

struct CompareOptions {
  double threshold = 0.05;     ///< changes within it are none, relative
  double false_alarms = 0.01;  ///< chance of any, over all cells, where nothing changed
  bool instructions = false;   ///< compare counts, not times
  bool force = false;          ///< also where the machines differ
};

/// The verdict on a cell with a number on both sides.
using stats::ChangeWord;
using stats::kChangeWords;

enum class Presence { both, gained, lost };
inline constexpr std::array<std::string_view, 3> kPresences{"both", "gained", "lost"};

enum class OutcomeChange { none, worse, better, other };
inline constexpr std::array<std::string_view, 4> kOutcomeChanges{"", "worse", "better", "other"};

/// One side of a compared cell.
struct ComparedSide {
  std::optional<Outcome> outcome;  ///< none where the cell is absent
  std::optional<double> value;     ///< median in ns, or instructions
  std::size_t workers = 0;
};

/// Why a cell is INCONCLUSIVE.
enum class BlindCause { too_few_processes, too_noisy, unknown_spread, reference_moved };
inline constexpr std::array<std::string_view, 4> kBlindCauses{"too-few-processes", "too-noisy",
                                                              "unknown-spread", "reference-moved"};

/// A cell that is INCONCLUSIVE. `replicas`: the processes a side that would detect a change of the
/// threshold in 99 of 100 cases; only of too_few_processes.
struct Blind {
  BlindCause cause = BlindCause::unknown_spread;
  std::optional<std::size_t> replicas;
};

struct ComparedCell {
  std::string_view name;     ///< of the comparison's texts
  std::string_view machine;  ///< likewise
  Presence presence = Presence::both;
  ComparedSide base, head;
  std::optional<double> ratio, lo, hi, p, spread, minimum_detectable_change;
  std::optional<ChangeWord> verdict;
  std::optional<Blind> blind;  ///< of a cell that is INCONCLUSIVE
  OutcomeChange outcome_change = OutcomeChange::none;
  std::vector<std::string> details;

  Cell cell() const;  ///< parsed from the name
};

/// Facts of a side beside its cells.
struct SideFacts {
  std::vector<std::string> runs;
  std::string environment, date, python;
  std::map<std::string, std::string> libraries;
};

/// The cells that are INCONCLUSIVE.
struct Inconclusive {
  std::size_t cells = 0;
  std::size_t of = 0;  ///< the cells with a time on both sides
  /// Processes a side that would detect a change of the threshold in each cell that enough
  /// processes can decide; none where there is no such cell.
  std::optional<std::size_t> replicas;
  std::size_t unknown = 0;      ///< of `cells`: the spread between processes is unknown
  std::size_t undecidable = 0;  ///< of `cells`: no number of processes up to kMostReplicas would do
};

struct Comparison {
  CompareOptions options;
  SideFacts base, head;
  std::vector<ComparedCell> cells;  ///< sorted by name
  Warnings warnings;
  std::array<std::shared_ptr<const Texts>, 2> texts;  ///< what names refer to
  std::array<std::size_t, 2> left_out{};  ///< of base, of head: cells that the other's options lack
  Inconclusive inconclusive;

  std::size_t count(ChangeWord word) const;
  std::size_t count(OutcomeChange change) const;
  std::size_t count(Presence presence) const;
};

/// Compares cell by cell; the unit is the worker process (stats/change.hpp).
///   SAME   the 99 % interval of the ratio lies within the threshold, and a change of the
///          threshold would have been detected
///   SLOW   else, where the chance of no change, adjusted for all cells (Holm), is below
///          `false_alarms`, and head takes longer; FAST where it takes less
///   INCONCLUSIVE  else, where a change of the threshold would not have been detected
///   AMBIG  what is left
/// The variance between processes is moderated by that of the cells of similar length
/// (stats/process_spread.hpp), and only where there are too few of them by that of the reference
/// exchange, beside the cell's own.
/// Instruction counts have no chance in them: what differs by the threshold or more is SLOW or
/// FAST. Two runs drift apart: by how much the reference exchange moved widens every interval.
/// A time on a device's clock beside one of which only a bound is known is SLOW or FAST
/// without a ratio where its interval lies above what the other side takes at most, else AMBIG.
/// A cell that one side lacks is lost or gained, unless the other side's options did not ask for it
/// or it has no such protocol (`no-protocol`) where it is.
///
/// Throws UsageError for what is no document (read_document), an environment that is not there, no
/// cell in common, and unless `force`, naming the keys, for different machines.
Comparison compare(const SideSource& base, const SideSource& head, const CompareOptions& options);

}  // namespace dlbench::results
