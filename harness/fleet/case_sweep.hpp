#pragma once

#include <map>

#include "model/entry.hpp"

namespace dlbench::fleet {

/// What the plain arrays of exchanges came to, in this worker or in an earlier one.
using Baselines = std::map<Exchange, Entry>;

/// That of this case's plain array; null where it is not known. A case of one element has no size
/// in common with it.
const Entry* baseline_of(const Exchange& exchange, const Baselines& baselines);

/// Does a case end like the plain array, so that it needs no time of its own?
bool ends_alike(const Exchange& exchange, const Entry& verdict, const Entry& baseline);

}  // namespace dlbench::fleet
