#pragma once

#include "results/fields.hpp"

namespace dlbench::results {

/// Checks a document's `context`. Throws UsageError naming the place.
void check_context(const Fields& context);

}  // namespace dlbench::results
