#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "model/entry.hpp"
#include "results/file.hpp"
#include "results/records.hpp"

namespace dlbench::results {

/// The journal's first line.
struct Header {
  std::string fingerprint;  ///< of the plan
  /// The context of results.json, as known at the start.
  nlohmann::json context = nlohmann::json::object();
};

struct JournalContents {
  Header header;
  std::vector<Entry> entries;  ///< one for each cell, with its counts
  std::vector<WorkerRecord> workers;
  std::vector<EndRecord> ends;
  std::uint64_t whole_bytes = 0;    ///< up to the end of the last complete line
  std::uint64_t dropped_lines = 0;  ///< complete lines that were skipped because they are invalid
  std::string first_dropped;        ///< "line 7: " and the reason
};

/// Reads a journal. Skips an incomplete last line, and drops lines that are invalid, that record a
/// cell again, or that count a cell that was not measured. A later line replaces `not-run` without
/// `found`. Throws UsageError with the file and the fault of its header.
JournalContents read_journal(const std::filesystem::path& path);

/// The names of the cells that a resumed run does not measure again: all entries except `not-run`
/// without `found`.
std::unordered_set<std::string> recorded_names(const JournalContents& contents);

/// Was the exchange timed? A time below the timer's resolution is only a bound.
inline bool is_timed(const Entry& entry) {
  return is_measured(entry.outcome) || entry.below_ns.has_value();
}

/// Appends lines to the journal of a finished run. Throws UsageError if the journal is invalid, if
/// a cell was not measured, or if another process writes to it. Throws DiskError.
void append_behind(const std::filesystem::path& run_directory,
                   const std::vector<std::string>& cells, const std::vector<OrderedJson>& lines);

/// Appends records about measured cells to the journal of a finished run. Throws as
/// append_behind().
template <typename Record>
void append_afterwards(const std::filesystem::path& run_directory,
                       const std::vector<Record>& records) {
  std::vector<std::string> cells;
  std::vector<OrderedJson> lines;
  for (const Record& record : records) {
    cells.push_back(record.cell);
    lines.push_back(line_of(record));
  }
  append_behind(run_directory, cells, lines);
}

/// Throws UsageError naming the first difference between the run that wrote `before` and this one:
/// the machine, Python, a library's version, or the plan.
void require_same_run(const Header& before, const Header& now);

/// `journal.jsonl`, open for appending by this process only.
class Journal {
 public:
  /// Creates a journal with its header. Throws UsageError if the file exists or cannot be created,
  /// and DiskError, without leaving a file, if the header cannot be written.
  static Journal create(std::filesystem::path path, const Header& header);

  /// Continues a journal that passes require_same_run(). Cuts off a torn last line. `contents` (may
  /// be null) receives the contents. Throws UsageError, also if another process has the journal
  /// open.
  static Journal resume(std::filesystem::path path, const Header& header,
                        JournalContents* contents = nullptr);

  /// Appends a line with one write. Throws DiskError naming the file; a partly written line is
  /// removed if possible. Throws UsageError for a number that is not finite.
  void append(const OrderedJson& line);
  template <typename Record>
  void append(const Record& record) {
    append(line_of(record));
  }

  const std::filesystem::path& path() const { return path_; }

 private:
  Journal(std::filesystem::path path, File file, std::uint64_t bytes);

  std::filesystem::path path_;
  File file_;
  std::uint64_t bytes_ = 0;
};

}  // namespace dlbench::results
