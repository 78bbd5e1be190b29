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
  std::string fingerprint;                            ///< of the plan
  nlohmann::json context = nlohmann::json::object();  ///< of results.json, as known at the start
};

struct JournalContents {
  Header header;
  std::vector<Entry> entries;  ///< one a cell, with what was counted of it
  std::vector<WorkerRecord> workers;
  std::vector<EndRecord> ends;
  std::uint64_t whole_bytes = 0;  ///< up to the end of the last whole line
  std::uint64_t dropped_lines =
      0;                      ///< whole lines that were skipped because they could not be read
  std::string first_dropped;  ///< "line 7: ", and why
};

/// Reads a journal; a torn last line is left out, and a line that is broken, foreign, records a
/// cell again or counts of a cell that was not measured is dropped. `not-run` without `found`
/// does not record a cell: a later line of the same cell takes its place. Throws UsageError naming
/// the file and what is wrong with its header.
JournalContents read_journal(const std::filesystem::path& path);

/// Names of the cells that a resumed run must not measure again: all entries but `not-run` ones
/// without `found`.
std::unordered_set<std::string> recorded_names(const JournalContents& contents);

/// Was the exchange made and timed? Below a timer's resolution it has no number.
inline bool is_timed(const Entry& entry) {
  return is_measured(entry.outcome) || entry.below_ns.has_value();
}

/// Throws UsageError where that is no journal, names no measured cell, or another process writes to
/// it; DiskError.
void append_behind(const std::filesystem::path& run_directory,
                   const std::vector<std::string>& cells, const std::vector<OrderedJson>& lines);

/// Writes behind a journal that is complete what was found out of its cells afterwards. Throws as
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

/// Throws UsageError naming what changed between the run that wrote `before` and this one: the
/// machine, Python, a library's version, the plan.
void require_same_run(const Header& before, const Header& now);

/// `journal.jsonl`, open for appending by this process alone.
class Journal {
 public:
  /// A new journal with its header. UsageError if the file exists or cannot be made; DiskError,
  /// and no file, if the disk does not take the header.
  static Journal create(std::filesystem::path path, const Header& header);

  /// Goes on with a journal that `require_same_run` allows. A torn last line is cut off. `contents`
  /// (may be null) gets what it holds. UsageError, also where another process has it open.
  static Journal resume(std::filesystem::path path, const Header& header,
                        JournalContents* contents = nullptr);

  /// One line, one write. Throws DiskError naming the file; the journal then ends with its last
  /// whole line, as far as the disk allows. UsageError for a number that is not finite.
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
