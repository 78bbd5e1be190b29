#include "results/comparison/compare_row.hpp"

#include <string>
#include <utility>

#include "model/units.hpp"
#include "results/comparison/compare_outcome.hpp"
#include "stats/stats.hpp"

namespace dlbench::results {
namespace {

ComparedSide side_of(const SideCell* cell, bool instructions) {
  ComparedSide side;
  if (cell == nullptr) return side;
  side.outcome = cell->outcome;
  if (!is_measured(cell->outcome)) return side;
  side.workers = cell->workers.medians.size();
  if (instructions)
    side.value = cell->instructions;
  else if (!cell->workers.medians.empty())
    side.value = stats::median(cell->workers.medians);
  else if (cell->median_ns > 0)
    side.value = cell->median_ns;
  return side;
}

Presence presence_of(const SideCell* base, const SideCell* head) {
  const bool before = has_cell(base), after = has_cell(head);
  if (before && !after) return Presence::lost;
  if (after && !before) return Presence::gained;
  return Presence::both;
}

/// If both sides timed a cell and only one counted it, the count is lost or gained.
void note_lost_count(ComparedCell& row, const SideCell& base, const SideCell& head) {
  if (base.median_ns <= 0 || head.median_ns <= 0) return;
  if (row.base.value.has_value() == row.head.value.has_value()) return;
  row.presence = row.base.value ? Presence::lost : Presence::gained;
  row.details.emplace_back(row.base.value ? "not counted in head" : "not counted in base");
}

/// The reason why only a bound is known; empty if the document has none.
std::string reason_of(std::string_view limit) {
  if (limit == "step") return ", the timer's resolution";
  if (limit == "empty-rows") return ", because empty rows scatter";
  return limit == "rounds" ? ", because its rounds scatter" : "";
}

}  // namespace

bool is_below_once(const SideCell& base, const SideCell& head) {
  if (base.below_ns.has_value() == head.below_ns.has_value()) return false;
  return !(base.below_ns ? head : base).workers.medians.empty();
}

bool has_cell(const SideCell* cell) {
  return cell != nullptr && is_present(cell->outcome);
}

ComparedCell row_of(const SideCell* base, const SideCell* head, bool instructions) {
  ComparedCell row;
  row.name = (head != nullptr ? head : base)->name;
  row.presence = presence_of(base, head);
  row.base = side_of(base, instructions);
  row.head = side_of(head, instructions);
  if (row.presence == Presence::both && base != nullptr && head != nullptr) {
    OutcomeVerdict verdict = compare_outcomes(*base, *head);
    row.outcome_change = verdict.change;
    row.details = std::move(verdict.details);
    if (instructions) note_lost_count(row, *base, *head);
    if (!instructions && is_below_once(*base, *head)) {
      const SideCell& below = base->below_ns ? *base : *head;
      row.details.push_back("less than " + format_duration(*below.below_ns) + " in " +
                            (base->below_ns ? "base" : "head") + reason_of(below.below_limit));
    }
  }
  return row;
}

}  // namespace dlbench::results
