#pragma once

#include <string>

#include "results/comparison/compare.hpp"
#include "results/fields.hpp"
#include "results/records.hpp"

namespace dlbench::results {

/// The JSON schema of a comparison.
OrderedJson describe_comparison();

std::string to_json(const Comparison& made);

/// Throws UsageError "PLACE/key: expected ..., found ...".
void check_comparison(const Fields& comparison);

}  // namespace dlbench::results
