#include "results/comparison/compare.hpp"

#include <algorithm>
#include <cmath>
#include <future>
#include <limits>
#include <map>

#include "model/error.hpp"
#include "model/units.hpp"
#include "results/comparison/compare_options.hpp"
#include "results/comparison/compare_row.hpp"
#include "results/comparison/compare_side.hpp"
#include "results/comparison/core_speed.hpp"
#include "stats/process_spread.hpp"
#include "stats/stages.hpp"

namespace dlbench::results {
namespace {

/// A cell with a number on both sides: its index and both measured sides.
struct Measured {
  std::size_t cell;
  const SideCell* base;
  const SideCell* head;
};

const Reference& reference_of(const Side& side, const Place& place) {
  static const Reference kNone;
  const auto found = side.references.find(place);
  return found == side.references.end() ? kNone : found->second;
}

/// The noise of the side with the larger spread between processes.
std::optional<stats::Noise> noise_of(const Reference& base, const Reference& head) {
  std::optional<stats::Noise> most;
  for (const Reference* reference : {&base, &head}) {
    const auto noise = stats::reference_noise(reference->spread, reference->workers);
    if (noise && (!most || noise->deviation > most->deviation)) most = noise;
  }
  return most;
}

/// The change of the machine between two runs, by the reference exchange, at the speed of base's
/// cores if both times are. It is certain if its workers' scatter does not explain it.
stats::Drift drift_of(const Reference& base, const Reference& head, bool at_one_speed) {
  constexpr std::size_t kFewest = 6;      // workers, for quartiles that show their scatter
  constexpr double kOfQuartiles = 1.858;  // error of a normal median, of half the quartiles' range
  constexpr double kSurely = 3;
  if (base.workers == 0 || head.workers == 0) return {};
  const double drift = std::abs(std::log(head.median_ns / base.median_ns));
  if (!at_one_speed || !base.core_ns || !head.core_ns) return {drift, drift};
  const double left =
      std::abs(std::log(head.median_ns / *head.core_ns) - std::log(base.median_ns / *base.core_ns));
  if (std::min(base.workers, head.workers) < kFewest) return {left, left};
  const auto error = [](const Reference& side) {
    return kOfQuartiles * side.spread / std::sqrt(static_cast<double>(side.workers));
  };
  return {left, left > kSurely * std::hypot(error(base), error(head)) ? left : 0};
}

/// Are both sides environments of one run, which were measured in the same state of the machine?
bool is_one_run(const Side& base, const Side& head) {
  return base.facts.runs == head.facts.runs;
}

void warn_of_builds(Comparison& made, const Side& base, const Side& head) {
  if (base.build == head.build) return;
  warn(made.warnings, "builds-differ",
       "the runs used two builds of dlbench, whose overhead floors may differ");
}

/// " in new on laptop"; empty if there is only one environment and one machine.
std::string where_is(const Place& place) {
  const auto& [machine, environment] = place;
  std::string text = environment == "default" ? "" : " in " + environment;
  if (!machine.empty()) text += " on " + machine;
  return text;
}

void warn_of_references(Comparison& made, const Place& place, const Reference& base,
                        const Reference& head, double drift) {
  const std::string where = where_is(place);
  Warning::Data data{{"environment", place.second}};
  if (!place.first.empty()) data.emplace("machine", place.first);
  if (drift > made.options.threshold / 2) {
    const std::string by = format_share(std::expm1(drift));
    data.emplace("by", by);
    warn(made.warnings, "reference-moved",
         "the reference exchange, native -> native, differs by " + by + " between the runs" +
             where + ", so intervals are widened by up to this amount",
         data);
  }
  if (base.workers < 2 && head.workers < 2) {
    warn(made.warnings, "no-reference",
         "only one worker measured the reference exchange" + where +
             ", so the spread between processes is known only from the cells' own workers; "
             "measure with more --replicas",
         data);
  }
}

/// Finds why cells are INCONCLUSIVE and how many processes would decide them.
class InconclusiveCounter {
 public:
  InconclusiveCounter(double threshold, double level) : threshold_(threshold), level_(level) {}

  /// Adds an INCONCLUSIVE cell; `drift` as in stats::Changes.
  InconclusiveCell add(const ComparedCell& cell, double drift) {
    const InconclusiveCell inconclusive = explain_cell(cell, drift);
    ++observed_.cells;
    observed_.unknown += inconclusive.cause == InconclusiveCause::unknown_spread ? 1 : 0;
    const bool is_undecidable = inconclusive.cause == InconclusiveCause::too_noisy ||
                                inconclusive.cause == InconclusiveCause::reference_moved;
    observed_.undecidable += is_undecidable ? 1 : 0;
    if (inconclusive.replicas)
      observed_.replicas = std::max(observed_.replicas.value_or(0), *inconclusive.replicas);
    return inconclusive;
  }

  InconclusiveSummary observed(std::size_t of) const {
    InconclusiveSummary made = observed_;
    made.of = of;
    return made;
  }

 private:
  InconclusiveCell explain_cell(const ComparedCell& cell, double drift) {
    // A drift of the whole machine does not decrease with the number of processes.
    const double left = std::log1p(threshold_) - drift;
    if (!(left > 0)) return {InconclusiveCause::reference_moved, std::nullopt};
    if (!cell.spread) return {InconclusiveCause::unknown_spread, std::nullopt};
    const auto wanted =
        stats::replicas_to_detect(std::expm1(left), *cell.spread, level_, quantiles_);
    if (!wanted) return {InconclusiveCause::too_noisy, std::nullopt};
    const std::size_t have = std::min(cell.base.workers, cell.head.workers);
    return {InconclusiveCause::too_few_processes, std::max(*wanted, have + 1)};
  }

  double threshold_, level_;
  stats::Quantiles quantiles_;
  InconclusiveSummary observed_;
};

/// The change between the time of one side and the upper bound of the other. The bound is from one
/// process, so the spread of the timed side is assumed for both.
stats::Change change_from_bound(stats::Changes& changes, const Measured& each,
                                const std::optional<stats::Noise>& reference) {
  const SideCell& timed = each.base->below_ns ? *each.head : *each.base;
  const double bound_ns = each.base->below_ns ? *each.base->below_ns : *each.head->below_ns;
  const bool is_alone = timed.workers.medians.size() < 2;
  return changes.of({{bound_ns}, {0}}, timed.workers, is_alone ? std::nullopt : reference);
}

/// The data of one machine and environment.
struct PlaceChanges {
  stats::Changes changes;
  std::optional<stats::Noise> reference;
  double drift = 0;               ///< the certain one
  stats::ProcessSpread spread{};  ///< of both sides' cells

  /// The prior for the spread of a cell's processes: from cells of similar duration, or, if they
  /// are too few, from the reference exchange. The latter only if the cell has several processes
  /// itself.
  std::optional<stats::Noise> prior_of(const Measured& each) const {
    const auto similar = spread.noise(std::sqrt(each.base->median_ns * each.head->median_ns));
    const bool has_own =
        each.base->workers.medians.size() > 1 || each.head->workers.medians.size() > 1;
    return similar || !has_own ? similar : reference;
  }
};

/// The part of a comparison's cells for which one drift of the machine counts.
using Kind = std::pair<Place, bool>;  // at one speed?

void warn_of_speed(Comparison& made, const Place& place, const CoreSpeed& speed) {
  if (std::abs(speed.change()) <= made.options.threshold / 2) return;
  const std::string by = format_share(std::expm1(std::abs(speed.change())));
  Warning::Data data{{"environment", place.second}, {"by", by}};
  if (!place.first.empty()) data.emplace("machine", place.first);
  warn(made.warnings, "core-speed",
       "the cores were " + by + (speed.change() > 0 ? " slower" : " faster") + " in head" +
           where_is(place) + "; all times are those at the speed of base's cores",
       data);
}

void note_slowed_core(ComparedCell& row, const Measured& each, const CoreSpeed& place,
                      double threshold) {
  constexpr std::size_t kFewest = 3;  // workers: the clock rate changes within a run, too
  if (std::min(each.base->cores_ns.size(), each.head->cores_ns.size()) < kFewest) return;
  const double own = slowed_by_cell(*each.base, *each.head, place);
  if (std::abs(own) <= threshold / 2) return;
  row.details.push_back("its cores were " + format_share(std::expm1(std::abs(own))) +
                        (own > 0 ? " slower" : " faster") +
                        " than beside other cells, which the change leaves out");
}

/// `below`: the cells for which is_below_once() is true.
void judge_times(Comparison& made, const std::vector<Measured>& measured,
                 const std::vector<Measured>& below, const Side& base, const Side& head,
                 const std::map<Place, CoreSpeed>& speeds) {
  const std::size_t family = measured.size() + below.size();
  if (family == 0) return;
  const double level = made.options.false_alarms / static_cast<double>(family);
  for (const auto& [place, speed] : speeds) warn_of_speed(made, place, speed);
  std::map<Kind, PlaceChanges> places;
  std::map<Place, double> widened;
  const auto place_of = [&](const SideCell& cell) -> PlaceChanges& {
    const Place& place = *cell.place;
    const Kind kind{place, cell.at_one_speed};
    const auto found = places.find(kind);
    if (found != places.end()) return found->second;
    const Reference& before = reference_of(base, place);
    const Reference& after = reference_of(head, place);
    const stats::Drift drift =
        is_one_run(base, head) ? stats::Drift{} : drift_of(before, after, cell.at_one_speed);
    double& most = widened[place];
    most = std::max(most, drift.possible);
    PlaceChanges known{stats::Changes(level, drift), noise_of(before, after), drift.certain, {}};
    return places.try_emplace(kind, std::move(known)).first->second;
  };
  for (const Measured& each : measured) {
    stats::ProcessSpread& spread = place_of(*each.head).spread;
    spread.add(each.base->workers.medians);
    spread.add(each.head->workers.medians);
  }
  for (const Measured& each : below) place_of(*each.head);
  for (auto& [key, place] : places) place.spread.estimate();
  for (const auto& [place, by] : widened) {
    warn_of_references(made, place, reference_of(base, place), reference_of(head, place), by);
  }
  std::vector<double> p, most, least;
  p.reserve(family);
  most.reserve(measured.size());
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const Measured& each = measured[i];
    ComparedCell& cell = made.cells[each.cell];
    PlaceChanges& place = place_of(*each.head);
    const stats::Change change =
        place.changes.of(each.base->workers, each.head->workers, place.prior_of(each));
    // The ratio of the printed medians. The interval's own center, by ranks, may differ from it.
    const double ratio =
        std::clamp(*cell.head.value / *cell.base.value, 1 / stats::kMostFactor, stats::kMostFactor);
    cell.ratio = ratio;
    cell.lo = std::min(change.lo, ratio);
    cell.hi = std::max(change.hi, ratio);
    if (each.head->at_one_speed) {
      note_slowed_core(cell, each, speeds.at(*each.head->place), made.options.threshold);
    }
    if (change.is_honest) cell.spread = change.spread;
    if (std::isfinite(change.minimum_detectable_change))
      cell.minimum_detectable_change = change.minimum_detectable_change;
    // No direction is significant if medians and ranks have opposite ones.
    const bool is_opposite = (change.ratio - 1) * (ratio - 1) < 0;
    p.push_back(is_opposite ? 1 : change.p);
    most.push_back(change.most);
  }
  for (const Measured& each : below) {
    PlaceChanges& place = place_of(*each.head);
    const stats::Change change = change_from_bound(place.changes, each, place.reference);
    p.push_back(change.is_honest ? change.p : 1);
    least.push_back(change.lo);
  }
  const std::vector<double> adjusted = stats::holm(p);
  for (std::size_t i = 0; i < below.size(); ++i) {
    const bool is_apart = adjusted[measured.size() + i] <= made.options.false_alarms &&
                          least[i] > 1 + made.options.threshold;
    made.cells[below[i].cell].verdict = !is_apart                 ? ChangeWord::ambig
                                        : below[i].base->below_ns ? ChangeWord::slow
                                                                  : ChangeWord::fast;
  }
  InconclusiveCounter counter(made.options.threshold, level);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    ComparedCell& cell = made.cells[measured[i].cell];
    cell.p = adjusted[i];
    constexpr double kUnknown = std::numeric_limits<double>::infinity();
    cell.verdict = stats::word_of(
        {*cell.ratio, most[i], *cell.p, cell.minimum_detectable_change.value_or(kUnknown)},
        made.options.threshold, made.options.false_alarms);
    // A worse outcome is a regression that was found, so noise in its time hides none.
    if (cell.verdict == ChangeWord::inconclusive && cell.outcome_change != OutcomeChange::worse)
      cell.inconclusive = counter.add(cell, place_of(*measured[i].head).drift);
  }
  if (!measured.empty()) made.inconclusive = counter.observed(measured.size());
  warn_of_builds(made, base, head);
}

void judge_counts(Comparison& made, const std::vector<Measured>& measured, const Side& base,
                  const Side& head) {
  const double threshold = made.options.threshold;
  for (const Measured& each : measured) {
    ComparedCell& cell = made.cells[each.cell];
    const double ratio =
        std::clamp(*cell.head.value / *cell.base.value, 1 / stats::kMostFactor, stats::kMostFactor);
    cell.ratio = cell.lo = cell.hi = ratio;
    cell.minimum_detectable_change = threshold;
    if (ratio >= 1 + threshold)
      cell.verdict = ChangeWord::slow;
    else if (ratio <= 1 / (1 + threshold))
      cell.verdict = ChangeWord::fast;
    else
      cell.verdict = ChangeWord::same;
  }
  warn_of_builds(made, base, head);
}

/// Calls `visit` with the cells of both sides for each name, in the order of names; null if a side
/// lacks the cell.
template <typename Visitor>
void each_pair(const Side& base, const Side& head, const Visitor& visit) {
  auto before = base.cells.begin();
  auto after = head.cells.begin();
  while (before != base.cells.end() || after != head.cells.end()) {
    const bool first =
        after == head.cells.end() || (before != base.cells.end() && before->name <= after->name);
    const bool second =
        before == base.cells.end() || (after != head.cells.end() && after->name <= before->name);
    visit(first ? &*before : nullptr, second ? &*after : nullptr);
    before += first ? 1 : 0;
    after += second ? 1 : 0;
  }
}

}  // namespace

std::size_t Comparison::count(ChangeWord word) const {
  // `inconclusive` has these cells: their times could hide a change.
  if (word == ChangeWord::inconclusive) return inconclusive.cells;
  const bool is_found = word == ChangeWord::slow || word == ChangeWord::fast;
  return static_cast<std::size_t>(
      std::count_if(cells.begin(), cells.end(), [=](const ComparedCell& cell) {
        return cell.verdict == word && (is_found || cell.outcome_change == OutcomeChange::none);
      }));
}

std::size_t Comparison::count(OutcomeChange change) const {
  return static_cast<std::size_t>(
      std::count_if(cells.begin(), cells.end(),
                    [=](const ComparedCell& cell) { return cell.outcome_change == change; }));
}

std::size_t Comparison::count(Presence presence) const {
  return static_cast<std::size_t>(
      std::count_if(cells.begin(), cells.end(),
                    [=](const ComparedCell& cell) { return cell.presence == presence; }));
}

Comparison compare(const SideSource& base_source, const SideSource& head_source,
                   const CompareOptions& options) {
  // Reading is most of the work, and the two sides are independent.
  auto reading = std::async(std::launch::async, [&] { return read_side(head_source); });
  Side base = read_side(base_source);
  Side head = reading.get();
  if (!options.force) require_same_machine(base, head);
  std::map<Place, CoreSpeed> speeds;
  // In two builds or versions of Python the computation may be compiled differently, and --force
  // allows two machines.
  const bool is_one_program = base.build == head.build && base.facts.python == head.facts.python;
  const bool one_run = is_one_run(base, head);
  if (one_run || (is_one_program && !options.force)) {
    speeds = put_at_one_speed(base, head, !one_run);
  }

  Comparison made;
  made.options = options;
  made.base = base.facts;
  made.head = head.facts;
  std::vector<Measured> measured, below;
  bool shared = false;
  made.texts = {base.texts, head.texts};
  made.cells.reserve(std::max(base.cells.size(), head.cells.size()));
  measured.reserve(made.cells.capacity());
  OptionsDiffer options_differ(base, head);
  each_pair(base, head, [&](const SideCell* before, const SideCell* after) {
    if (!has_cell(before) && !has_cell(after)) return;
    shared = shared || (has_cell(before) && after != nullptr);
    if (!has_cell(before) || !has_cell(after)) {
      const SideCell& only = has_cell(before) ? *before : *after;
      if (only.outcome == Outcome::no_protocol) return;
      const SideCell* there = has_cell(before) ? after : before;
      if (options_differ.left_out(only, there, has_cell(before))) return;
    }
    ComparedCell row = row_of(before, after, options.instructions);
    if (row.base.value && row.head.value &&
        (options.instructions || (row.base.workers > 0 && row.head.workers > 0))) {
      measured.push_back({made.cells.size(), before, after});
    }
    if (!options.instructions && before != nullptr && after != nullptr &&
        is_below_once(*before, *after)) {
      below.push_back({made.cells.size(), before, after});
    }
    made.cells.push_back(std::move(row));
  });
  const std::string differ = options_differ.line();
  if (!shared) {
    throw UsageError(
        "nothing to compare: the two runs have no cell in common; cells that were not run, or "
        "whose library or device is missing, are ignored" +
        (differ.empty() ? "" : "; " + differ));
  }
  made.left_out = options_differ.counts();
  if (!differ.empty()) warn(made.warnings, "options-differ", differ);
  if (options.instructions && measured.empty()) {
    throw UsageError(
        "nothing to compare: no cell has an instruction count on both sides; measure both sides "
        "with --count instructions");
  }
  if (options.instructions)
    judge_counts(made, measured, base, head);
  else
    judge_times(made, measured, below, base, head, speeds);
  return made;
}

}  // namespace dlbench::results
