#pragma once

#include <string>
#include <vector>

#include "results/comparison/compare_side.hpp"

namespace dlbench::results {

/// Does the cell count as present in a comparison? A cell that was not run, or whose library or
/// device is missing, does not.
bool is_present(Outcome outcome);

struct OutcomeVerdict {
  OutcomeChange change = OutcomeChange::none;
  std::vector<std::string> details;
};

/// The change of the outcome, independent of time. Worse means a copy instead of none, a refusal
/// instead of a number, a crash or wrong values instead of a refusal, one more property that is
/// dropped or converted without an error, or a late read. A change to or from `unproven` is
/// `other`, because the library may be the same; so is a change if workers of one side disagree and
/// the other side has one of their outcomes.
OutcomeVerdict compare_outcomes(const SideCell& base, const SideCell& head);

}  // namespace dlbench::results
