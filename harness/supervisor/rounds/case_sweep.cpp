#include "supervisor/rounds/case_sweep.hpp"

#include "supervisor/plan/plan.hpp"

namespace dlbench::supervisor {

const Entry* baseline_of(const Exchange& exchange, const Baselines& baselines) {
  const auto is_same = [&exchange](Exchange other) {
    other.case_name = exchange.case_name;
    other.bytes = exchange.bytes;
    return other == exchange;
  };
  Exchange first = exchange;
  first.case_name = plan::kBaseline;
  const auto exact = baselines.find(first);
  if (exact != baselines.end()) return &exact->second;
  first.bytes = 0;
  const auto other = baselines.lower_bound(first);
  return other != baselines.end() && is_same(other->first) ? &other->second : nullptr;
}

bool has_same_outcome(const Exchange& exchange, const Entry& verdict, const Entry& baseline) {
  // No instrument can decide for an array without elements.
  const bool empty = exchange.bytes == 0 && verdict.outcome == Outcome::unproven;
  return (empty || verdict.outcome == baseline.outcome) && verdict.changed == baseline.changed;
}

}  // namespace dlbench::supervisor
