#include "results/comparison/compared_fields.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/build.hpp"
#include "model/codes.hpp"
#include "results/schema/describe.hpp"
#include "results/schema/shared_fields.hpp"
#include "stats/stats.hpp"

namespace dlbench::results {
namespace {

constexpr double kMost = 1e100;
constexpr Rule kShare{.least = 0, .most = 1, .is_open = true};
constexpr Rule kMoreThanNothing = between(1e-100, kMost);
constexpr Rule kFromZero = between(0, kMost);
constexpr Rule kReplicas = between(1, kMostCount);

struct ComparisonWarning : Warning {
  ComparisonWarning() = default;
  explicit ComparisonWarning(const Warning& warning) : Warning(warning) {}
};

/// The smallest change of each cell that would have been detected.
struct DetectableChange {
  double least = 0, median = 0, most = 0;
};

/// Counted by dlbench after the comparison.
struct Alarms {
  std::uint64_t cells = 0, alarms = 0, outside_95 = 0;
};

std::optional<DetectableChange> detectable_change(const std::vector<ComparedCell>& cells) {
  std::vector<double> all;
  for (const ComparedCell& cell : cells) {
    if (cell.minimum_detectable_change) all.push_back(*cell.minimum_detectable_change);
  }
  if (all.empty()) return std::nullopt;
  return DetectableChange{*std::min_element(all.begin(), all.end()), stats::median(all),
                          *std::max_element(all.begin(), all.end())};
}

bool is_changed(const ComparedCell& cell) {
  return cell.presence != Presence::both || cell.outcome_change != OutcomeChange::none ||
         cell.verdict == ChangeWord::slow || cell.verdict == ChangeWord::fast;
}

std::vector<ComparedCell> listed_cells(const Comparison& made) {
  std::vector<ComparedCell> cells;
  std::copy_if(made.cells.begin(), made.cells.end(), std::back_inserter(cells),
               [&](const auto& cell) { return !made.options.only_changed || is_changed(cell); });
  return cells;
}

template <typename Enum, typename Words>
std::optional<std::string_view> word_at(const std::optional<Enum>& value, const Words& words) {
  if (!value) return std::nullopt;
  return words.at(static_cast<std::size_t>(*value));
}

template <typename Io, typename T>
void count_fields(Io& io, const T& made) {
  const auto add = [&](const auto& words, auto first) {
    for (auto i = static_cast<std::size_t>(first); i < words.size(); ++i) {
      io(words.at(i), made.count(static_cast<decltype(first)>(i)), "");
    }
  };
  add(kChangeWords, ChangeWord());
  add(kOutcomeChanges, OutcomeChange::worse);
  add(kPresences, Presence::gained);
}

}  // namespace

template <>
inline constexpr Definition kDefinition<SideFacts>{"side"};
template <>
inline constexpr Definition kDefinition<ComparisonWarning>{"warning"};
template <>
inline constexpr Definition kDefinition<ComparedCell>{"cell"};

template <typename Io, Is<SideFacts> T>
void fields(Io& io, T& side) {
  io("runs", side.runs, kAny.items(1));
  io("environment", side.environment, "The environment whose cells were compared; empty: all.");
  io("date", side.date, "");
  io("python", side.python, "");
  io("libraries", side.libraries, "");
}

template <typename Io, Is<DetectableChange> T>
void fields(Io& io, T& change) {
  io("least", change.least, kFromZero);
  io("median", change.median, kFromZero);
  io("most", change.most, kFromZero);
}

template <typename Io, Is<InconclusiveSummary> T>
void fields(Io& io, T& summary) {
  io("cells", summary.cells, "");
  io("of", summary.of, "");
  io("replicas", summary.replicas,
     {kReplicas,
      "Number of processes for each side with which a change of the threshold is detected with a "
      "probability of 99 % in each of these cells, except unknown and undecidable ones; null "
      "without such a cell."});
  io("unknown", summary.unknown,
     "Number of these cells whose spread between processes is unknown.");
  io("undecidable", summary.undecidable,
     "Number of these cells that no number of processes up to 60 can decide.");
}

template <typename Io, Is<Alarms> T>
void fields(Io& io, T& alarms) {
  io("cells", alarms.cells, "");
  io("alarms", alarms.alarms, "");
  io("outside_95", alarms.outside_95, "");
}

template <typename Io, Is<ComparisonWarning> T>
void fields(Io& io, T& warning) {
  static const std::string kCodes = joined(codes::kComparisonWarnings);
  warning_fields(io, warning, kCodes);
}

template <typename Io, Is<InconclusiveCell> T>
void fields(Io& io, T& cell) {
  static const std::string kCauses = joined(kInconclusiveCauses);
  io("code", word_at(std::optional(cell.cause), kInconclusiveCauses).value(), words(kCauses));
  io("replicas", cell.replicas, kReplicas);
}

template <typename Io, Is<ComparedCell> T>
void fields(Io& io, T& cell) {
  static const std::string kPresence = joined(kPresences), kVerdicts = joined(kChangeWords),
                           kChanges = joined(std::span(kOutcomeChanges).subspan(1));
  std::optional<OutcomeChange> change;
  if (cell.outcome_change != OutcomeChange::none) change = cell.outcome_change;
  io("name", cell.name, "");
  Cell axes = std::is_const_v<T> ? cell_from_name(cell.name) : Cell();
  axis_fields(io, axes);
  io("presence", word_at(std::optional(cell.presence), kPresences).value(),
     {words(kPresence),
      "Cells that neither side has are left out. For counts, a cell that one side timed but did "
      "not count is also lost or gained."});
  io("base_outcome", word_at(cell.base.outcome, kOutcomes),
     "If workers disagree, the weakest claim. For a cell that was exchanged but not timed, the "
     "outcome that was found.");
  io("head_outcome", word_at(cell.head.outcome, kOutcomes), "");
  io("base", cell.base.value,
     {kMoreThanNothing,
      "Median over workers of their lowest rounds in ns, at the speed of base's cores; or "
      "instructions."});
  io("head", cell.head.value, kMoreThanNothing);
  io("base_workers", cell.base.workers, "");
  io("head_workers", cell.head.workers, "");
  io("ratio", cell.ratio, {kMoreThanNothing, "Head over base."});
  io("lo", cell.lo, {kMoreThanNothing, "With hi: 95 % interval of the ratio."});
  io("hi", cell.hi, kMoreThanNothing);
  io("p", cell.p,
     {between(0, 1), "p-value of no change, adjusted for all cells; null for counts."});
  io("spread", cell.spread, {kFromZero, "Relative standard deviation between processes."});
  io("minimum_detectable_change", cell.minimum_detectable_change, kFromZero);
  io("verdict", word_at(cell.verdict, kChangeWords), words(kVerdicts));
  io("inconclusive", cell.inconclusive,
     "For an INCONCLUSIVE cell: the cause, and the number of processes for each side that would "
     "detect a change of the threshold.");
  io("outcome_change", word_at(change, kOutcomeChanges), words(kChanges));
  io("details", cell.details, "");
}

template <typename Io, Is<Comparison> T>
void fields(Io& io, T& made) {
  io("dlbench_comparison", std::uint64_t{1}, between(1, 1));
  io("version", std::string_view(version()), "");
  io("metric", std::string_view(made.options.instructions ? "instructions" : "time"),
     words("time instructions"));
  io("threshold", made.options.threshold,
     {kShare, "Relative change up to which a cell counts as unchanged."});
  io("false_alarms", made.options.false_alarms,
     {kShare,
      "Probability that any cell is SLOW or FAST although nothing changed. In a comparison in "
      "stages: the share of the last analysis."});
  io("base", made.base, "");
  io("head", made.head, "");
  io.object(
      "counts", [&](auto& counts) { count_fields(counts, made); },
      "Number of cells by verdict, by change of outcome, and by presence.");
  io("minimum_detectable_change", detectable_change(made.cells),
     "Minimum detectable change: the smallest relative change that would have been SLOW or FAST, "
     "over the cells; null if no cell can detect a change.");
  io("inconclusive", made.inconclusive,
     "The INCONCLUSIVE cells, and the number of cells with a time on both sides.");
  io.object(
      "left_out",
      [&](auto& left_out) {
        left_out("base", made.left_out[0], "");
        left_out("head", made.left_out[1], "");
      },
      "Number of cells of one side that the options of the other side did not request. They are "
      "not in `cells`.");
  io("warnings", std::vector<ComparisonWarning>(made.warnings.begin(), made.warnings.end()), "");
  io.known("aa", std::optional<Alarms>(),
           "With --aa: the number of cells, of those that were reported as changed, and of those "
           "whose own 95 % interval excludes 1.");
  io("cells", listed_cells(made), "Sorted by name.");
}

OrderedJson describe_comparison() {
  return Describe::document(
      {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
       {"$id", "urn:dlbench:comparison:1"},
       {"title", "A dlbench comparison, schema 1"},
       {"description",
        "The output of `dlbench compare --json`. Times are in nanoseconds. New keys may be "
        "added; a change of a key's meaning changes `dlbench_comparison`."}},
      OrderedJson::object(), [](Describe& io) {
        Comparison comparison;
        fields(io, comparison);
      });
}

std::string to_json(const Comparison& made) {
  OrderedJson item;
  Put put(item);
  fields(put, made);
  return item.dump(-1, ' ', true, OrderedJson::error_handler_t::replace);
}

void check_comparison(const Fields& comparison) {
  Get get(comparison);
  Comparison whole;
  fields(get, whole);
}

}  // namespace dlbench::results
