#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "model/entry.hpp"

namespace dlbench::results {

/// No document may be larger.
inline constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 30;

/// One cell of a document as it is read.
struct ReadEntry {
  Entry entry;
  std::string name;
  std::string machine;  ///< behind the name; empty where there is one machine only
};

/// Reads a document strictly, an entry at a time: each is passed on and forgotten, so that a
/// document of any number of cells needs little more memory than its text. Returns its context.
///
/// Throws UsageError naming the file and the JSON pointer of the first fault: truncated, empty,
/// foreign, a newer schema, a key given twice, what schema.json does not allow, a cell that occurs
/// twice; larger than 1 GiB, or nested deeper than 64. Entries before the fault were passed on.
nlohmann::json read_document(const std::filesystem::path& path,
                             const std::function<void(ReadEntry)>& on_entry);

}  // namespace dlbench::results
