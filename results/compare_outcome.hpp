#pragma once

#include <string>
#include <vector>

#include "results/compare_side.hpp"

namespace dlbench::results {

/// Is the cell there, for a comparison? What was not run, or could not be for want of a library or
/// a device, gives no verdict on a change.
bool is_present(Outcome outcome);

struct OutcomeVerdict {
  OutcomeChange change = OutcomeChange::none;
  std::vector<std::string> details;
};

/// What became of the outcome, at any speed. Worse: a copy where none was, a refusal where there
/// was a number, a crash or wrong values where there was a refusal, something more that is dropped
/// or converted in silence, a late read. To and from `unproven`, other: the instruments changed
/// their word, not surely the library. Other, too, where workers of one side disagree and the other
/// side has one of their words.
OutcomeVerdict compare_outcomes(const SideCell& base, const SideCell& head);

}  // namespace dlbench::results
