#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "model/entry.hpp"

namespace dlbench::results {

/// The limit on the size of a document.
inline constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 30;

/// One cell of a document.
struct ReadEntry {
  Entry entry;
  std::string name;
  std::string machine;  ///< the machine in the name; empty if there is only one machine
};

/// Reads a document strictly, one entry at a time, so that it needs little more memory than its
/// text. Returns its context.
///
/// Throws UsageError naming the file and the JSON pointer of the first fault: truncated, empty, not
/// from dlbench, a newer schema, a duplicate key, a violation of schema.json, a duplicate cell,
/// larger than 1 GiB, or nested deeper than 64. Entries before the fault have been passed on.
nlohmann::json read_document(const std::filesystem::path& path,
                             const std::function<void(ReadEntry)>& on_entry);

}  // namespace dlbench::results
