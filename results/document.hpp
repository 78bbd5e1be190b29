#pragma once

#include <filesystem>

#include "results/journal.hpp"

namespace dlbench::results {

inline constexpr int kSchema = 1;

/// Writes the results document of a journal, whole or not at all. Throws DiskError (what was there
/// before stays), and UsageError for a number that no document may hold.
void write_document(JournalContents contents, const std::filesystem::path& path);

/// RUN/journal.jsonl -> RUN/results.json, whose path is returned.
std::filesystem::path write_document(const std::filesystem::path& run_directory);

/// Reads a document strictly. Throws UsageError naming the file and the JSON pointer of the first
/// fault: truncated, empty, foreign, a newer schema, a key given twice, a wrong type, a number that
/// is no time, a cell that occurs twice; larger than 1 GiB, or nested deeper than 64.
void validate_document(const std::filesystem::path& path);

/// The same of a comparison, which is read as a whole.
void validate_comparison(const std::filesystem::path& path);

}  // namespace dlbench::results
