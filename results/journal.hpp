#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "model/entry.hpp"
#include "results/entry_json.hpp"
#include "results/file.hpp"

namespace dlbench::results {

/// The journal's first line.
struct Header {
  std::string fingerprint;                            ///< of the plan
  nlohmann::json context = nlohmann::json::object();  ///< of results.json, as known at the start
};

/// What an import changed for all others in its process: names by kind of effect.
using Effects = std::map<std::string, std::vector<std::string>>;

/// What one worker reported of itself.
struct WorkerRecord {
  std::string environment = "default";
  std::vector<std::string> imports;  ///< its libraries, in the order of import
  std::string python;
  bool gil = true;
  std::map<std::string, double> floors_ns;
  std::map<std::string, double> copy_floors_gb_per_s;  ///< empty where it was not requested
  std::map<std::string, std::uint64_t>
      copy_floors_bytes;               ///< by device, of a block that was copied
  std::optional<double> reference_ns;  ///< its median; none where it could not be measured
  std::map<std::string, std::string> libraries;   ///< versions as imported
  std::map<std::string, Effects> import_effects;  ///< by library
  double import_s = 0;
};

/// The end of one session; a resumed journal holds several.
struct EndRecord {
  double wall_s = 0;
  double round_s = 0;  ///< of that, in rounds
  int signal = 0;      ///< 0, SIGINT or SIGTERM
};

/// What was counted of a recorded cell afterwards: a number, or why there is none.
struct CountRecord {
  std::string cell;                    ///< its name
  std::optional<double> instructions;  ///< of one exchange
  std::string failure;
};

/// The synchronization of a recorded cell, classified afterwards, as `sync` and `late_free` stand
/// on its entry; or why nothing was.
struct SyncRecord {
  std::string cell;
  std::vector<Ordering> sync;
  std::string late_free;
  std::string race;  ///< why the cell is one, and has no number any more; empty: it is none
  std::string failure;
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
/// cell again or counts of a cell that was not measured is dropped. `not-run` does not record a
/// cell: a later line of the same cell takes its place. Throws UsageError naming the file and what
/// is wrong with its header.
JournalContents read_journal(const std::filesystem::path& path);

/// Names of the cells that a resumed run must not measure again: all entries but `not-run` ones.
std::unordered_set<std::string> recorded_names(const JournalContents& contents);

/// Was the exchange made and timed? Below a timer's resolution it has no number.
inline bool is_timed(const Entry& entry) {
  return is_measured(entry.outcome) || entry.below_ns.has_value();
}

/// Appends the seconds of what followed the rounds (counts, traces, synchronization), and
/// the signal that ended it. Throws as append_counts().
void append_end(const std::filesystem::path& run_directory, const EndRecord& end);

/// Writes behind a journal that is complete what was counted of its cells. Throws UsageError where
/// that is no journal, names no measured cell, or another process writes to it; DiskError.
void append_counts(const std::filesystem::path& run_directory,
                   const std::vector<CountRecord>& counts);

/// The same of lines that are about these cells.
void append_behind(const std::filesystem::path& run_directory,
                   const std::vector<std::string>& cells, const std::vector<OrderedJson>& lines);

/// The synchronization of those cells.
void append_sync(const std::filesystem::path& run_directory,
                 const std::vector<SyncRecord>& records);

/// A record as its JSON, for which a race is a text under `race`. Throws UsageError.
SyncRecord sync_record_from(const Fields& item);

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
  void append(const Entry& entry);
  void append(const WorkerRecord& worker);
  void append(const EndRecord& end);
  void append(const CountRecord& count);

  const std::filesystem::path& path() const { return path_; }

 private:
  Journal(std::filesystem::path path, File file, std::uint64_t bytes);

  std::filesystem::path path_;
  File file_;
  std::uint64_t bytes_ = 0;
};

}  // namespace dlbench::results
