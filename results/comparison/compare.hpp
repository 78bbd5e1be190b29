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

#include "model/outcome.hpp"
#include "model/warning.hpp"
#include "results/texts.hpp"
#include "stats/change.hpp"
#include "stats/stages.hpp"

namespace dlbench::results {

/// The source of a side: one document, or several documents with their workers combined. With an
/// environment, only its cells are compared, and their names omit it.
struct SideSource {
  std::vector<std::filesystem::path> documents;
  std::string environment;
};

struct CompareOptions {
  double threshold = stats::kThreshold;  ///< relative change that counts as no change
  double false_alarms = 0.01;            ///< probability of any false alarm over all cells
  bool instructions = false;             ///< compare instruction counts instead of times
  bool force = false;                    ///< compare even if the machines differ
  bool only_changed = false;             ///< write no cell without a change
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
enum class InconclusiveCause { too_few_processes, too_noisy, unknown_spread, reference_moved };
inline constexpr std::array<std::string_view, 4> kInconclusiveCauses{
    "too-few-processes", "too-noisy", "unknown-spread", "reference-moved"};

/// Why a cell is INCONCLUSIVE. `replicas`: the number of processes for each side with which a
/// change of the threshold is detected with a probability of 99 %; only for too_few_processes.
struct InconclusiveCell {
  InconclusiveCause cause = InconclusiveCause::unknown_spread;
  std::optional<std::size_t> replicas;
};

struct ComparedCell {
  std::string_view name;  ///< refers to the comparison's texts
  Presence presence = Presence::both;
  ComparedSide base, head;
  std::optional<double> ratio, lo, hi, p, spread, minimum_detectable_change;
  std::optional<ChangeWord> verdict;
  std::optional<InconclusiveCell> inconclusive;  ///< of an INCONCLUSIVE cell
  OutcomeChange outcome_change = OutcomeChange::none;
  std::vector<std::string> details;
};

/// The facts of a side other than its cells.
struct SideFacts {
  std::vector<std::string> runs;
  std::string environment, date, python;
  std::map<std::string, std::string> libraries;
};

/// The INCONCLUSIVE cells.
struct InconclusiveSummary {
  std::size_t cells = 0;
  std::size_t of = 0;  ///< number of cells with a time on both sides
  /// The number of processes for each side with which a change of the threshold is detected in
  /// every cell that can be decided; none without such a cell.
  std::optional<std::size_t> replicas;
  std::size_t unknown = 0;  ///< cells whose spread between processes is unknown
  /// Cells that no number of processes up to kMostReplicas can decide.
  std::size_t undecidable = 0;
};

struct Comparison {
  CompareOptions options;
  SideFacts base, head;
  std::vector<ComparedCell> cells;  ///< sorted by name
  Warnings warnings;
  std::array<std::shared_ptr<const Texts>, 2> texts;  ///< the memory that names refer to
  std::array<std::size_t, 2>
      left_out{};  ///< of base and head: cells that the other side's options do not request
  InconclusiveSummary inconclusive;

  /// A cell with another outcome counts as that and, if it is, as SLOW, FAST or, unless its outcome
  /// is worse, INCONCLUSIVE.
  std::size_t count(ChangeWord word) const;
  std::size_t count(OutcomeChange change) const;
  std::size_t count(Presence presence) const;
};

/// Compares cell by cell; the unit is the worker process (stats/change.hpp).
///   SAME   the 99 % interval of the ratio lies within the threshold, and a change of the
///          threshold would have been detected
///   SLOW   otherwise, if the p-value of no change, adjusted for all cells (Holm), is at most
///          `false_alarms` and head takes longer; FAST if it takes less
///   INCONCLUSIVE  otherwise, if a change of the threshold would not have been detected
///   AMBIG  otherwise
/// The variance between processes is moderated by that of cells of similar duration
/// (stats/process_spread.hpp) or, if these are too few, by that of the reference exchange.
/// Instruction counts are deterministic: a difference of the threshold or more is SLOW or FAST.
/// Times that a core's clock rate determines are those at the speed of base's cores
/// (core_speed.hpp). The drift of the reference exchange between two runs widens every interval.
/// If one side has a time on a device's clock and the other only an upper bound, the cell has no
/// ratio. It is SLOW or FAST if the interval of the time is above the bound, otherwise AMBIG.
/// A cell that one side lacks is lost or gained, unless that side's options did not request it or
/// the existing cell is `no-protocol`.
///
/// Throws UsageError for an invalid document (read_document), an unknown environment, no cell in
/// common, and, unless `force`, for machines that differ (with the keys that differ).
Comparison compare(const SideSource& base, const SideSource& head, const CompareOptions& options);

}  // namespace dlbench::results
