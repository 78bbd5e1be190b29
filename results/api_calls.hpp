#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/entry.hpp"
#include "results/entry_json.hpp"

namespace dlbench::results {

/// What was counted of a recorded cell's calls of the CUDA driver: these, or why there are none.
struct ApiRecord {
  std::string cell;  ///< its name
  std::optional<ApiCalls> calls;
  std::string failure;
};

OrderedJson api_calls_to_json(const ApiCalls& calls);
/// Throws UsageError for a kind or a phase that is none, and for what is no count.
ApiCalls api_calls_from(const Fields& item);

/// A line of the journal, and its inverse.
OrderedJson journal_line(const ApiRecord& record);
ApiRecord api_record_from(const Fields& item);

/// A later record takes the place of an earlier one, and of why that failed.
void apply(const ApiRecord& record, Entry& entry);

/// Writes behind a journal that is complete what was counted of its cells. Throws UsageError where
/// that is no journal, names no measured cell, or another process writes to it; DiskError.
void append_api_calls(const std::filesystem::path& run_directory,
                      const std::vector<ApiRecord>& records);

}  // namespace dlbench::results
