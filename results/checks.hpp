#pragma once

#include "results/fields.hpp"

namespace dlbench::results {

/// The section `checks`, where a document has one: what `dlbench check` found. Throws UsageError
/// naming the place of the first fault.
void check_checks(const Fields& document);

}  // namespace dlbench::results
