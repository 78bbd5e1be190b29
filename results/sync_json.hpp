#pragma once

#include <nlohmann/json.hpp>

#include "model/entry.hpp"
#include "results/entry_json.hpp"
#include "results/fields.hpp"

namespace dlbench::results {

/// Synchronization, as the keys `sync` and `late_free` of a cell's item; absent without `--sync`.
void put_sync(OrderedJson& item, const Entry& entry);

/// The inverse. Throws UsageError naming the place.
void read_sync(const Fields& item, Entry& entry);

}  // namespace dlbench::results
