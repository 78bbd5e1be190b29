#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "model/entry.hpp"
#include "results/fields.hpp"

namespace dlbench::results {

/// For writing: keys keep the order in which people read them.
using OrderedJson = nlohmann::ordered_json;

/// A recorded cell as its item of `benchmarks` (measured) or `not_measured` (design 4.3).
/// Times in ns. Empty keys (no exception, no late read) are left out.
OrderedJson entry_to_json(const Entry& entry);

/// The inverse. Throws UsageError naming the place of what is missing or cannot be: a wrong type, a
/// time that is not finite and above zero, an interval that does not hold its order, a number
/// without a measured outcome, a name that is not its axes'.
Entry entry_from_json(const Fields& item);

/// The key `data` of a reason or a warning; empty where it is absent.
Warning::Data data_from(const Fields& item);

/// Throws UsageError naming the JSON pointer of the first number that is not finite.
void require_finite(const OrderedJson& value);

}  // namespace dlbench::results
