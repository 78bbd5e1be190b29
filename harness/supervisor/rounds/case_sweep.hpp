#pragma once

#include <map>

#include "model/entry.hpp"

namespace dlbench::supervisor {

/// The results of the plain arrays, from this worker or an earlier one.
using Baselines = std::map<Exchange, Entry>;

/// The result of the plain array that this case is compared with; null where it is unknown. A case
/// of one element has no size in common with the plain array.
const Entry* baseline_of(const Exchange& exchange, const Baselines& baselines);

/// Does the case have the same outcome as the plain array, so that it need not be timed?
bool has_same_outcome(const Exchange& exchange, const Entry& verdict, const Entry& baseline);

}  // namespace dlbench::supervisor
