#include "results/compare_row.hpp"

#include <array>
#include <cstdio>
#include <utility>

#include "results/compare_outcome.hpp"

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
  else if (cell->median_ns > 0)
    side.value = cell->median_ns;
  return side;
}

Presence presence_of(const SideCell* base, const SideCell* head) {
  const bool before = is_there(base), after = is_there(head);
  if (before && !after) return Presence::lost;
  if (after && !before) return Presence::gained;
  return Presence::both;
}

/// A cell that both sides timed and one alone counted has lost or gained its count.
void look_for_lost_count(ComparedCell& row, const SideCell& base, const SideCell& head) {
  if (base.median_ns <= 0 || head.median_ns <= 0) return;
  if (row.base.value.has_value() == row.head.value.has_value()) return;
  row.presence = row.base.value ? Presence::lost : Presence::gained;
  row.details.emplace_back(row.base.value ? "not counted in head" : "not counted in base");
}

}  // namespace

void judge_below_resolution(ComparedCell& row, const SideCell& base, const SideCell& head,
                            double threshold) {
  if (base.below_ns.has_value() == head.below_ns.has_value()) return;
  const SideCell& timed = base.below_ns ? head : base;
  const double below_ns = base.below_ns ? *base.below_ns : *head.below_ns;
  if (timed.median_ns <= 0) return;
  const bool is_apart = timed.lo_ns > below_ns * (1 + threshold);
  if (!is_apart) {
    row.verdict = ChangeWord::ambig;
  } else {
    row.verdict = base.below_ns ? ChangeWord::slow : ChangeWord::fast;
  }
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), "below the timer's resolution in %s: less than %.3g ns",
                base.below_ns ? "base" : "head", below_ns);
  row.details.emplace_back(text.data());
}

bool is_there(const SideCell* cell) {
  return cell != nullptr && is_present(cell->outcome);
}

ComparedCell row_of(const SideCell* base, const SideCell* head, bool instructions) {
  ComparedCell row;
  row.name = (head != nullptr ? head : base)->name;
  row.machine = (head != nullptr ? head : base)->machine;
  row.presence = presence_of(base, head);
  row.base = side_of(base, instructions);
  row.head = side_of(head, instructions);
  if (row.presence == Presence::both && base != nullptr && head != nullptr) {
    OutcomeVerdict verdict = compare_outcomes(*base, *head);
    row.outcome_change = verdict.change;
    row.details = std::move(verdict.details);
    if (instructions) look_for_lost_count(row, *base, *head);
  }
  return row;
}

}  // namespace dlbench::results
