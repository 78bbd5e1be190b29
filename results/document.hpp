#pragma once

#include <filesystem>

#include "results/journal.hpp"

namespace dlbench::results {

inline constexpr int kSchema = 1;

/// Writes the results document of a journal atomically. Throws DiskError (the former document
/// stays), and UsageError for a number that is not allowed in a document.
void write_document(JournalContents contents, const std::filesystem::path& path);

/// Writes the document of RUN/journal.jsonl to `to`, or RUN/results.json, and returns its path.
std::filesystem::path write_document(const std::filesystem::path& run_directory,
                                     const std::filesystem::path& to = {});

/// Validates a document with read_document() (results/read.hpp), which throws UsageError.
void validate_document(const std::filesystem::path& path);

/// The same for a comparison, which is read as a whole.
void validate_comparison(const std::filesystem::path& path);

}  // namespace dlbench::results
