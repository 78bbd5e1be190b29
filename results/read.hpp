#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "model/entry.hpp"

namespace dlbench::results {

/// The limit on the size of a document.
inline constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 30;

/// Reads a document strictly, one entry at a time, so that it needs little more memory than its
/// text. Returns its context.
///
/// Throws UsageError naming the file and the JSON pointer of the first fault: truncated, empty, not
/// from dlbench, a newer schema, a duplicate key, a violation of schema.json, a duplicate cell,
/// larger than 1 GiB, or nested deeper than 64. Entries before the fault have been passed on.
nlohmann::json read_document(const std::filesystem::path& path,
                             const std::function<void(Entry)>& on_entry);

}  // namespace dlbench::results
