#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace dlbench::fleet {

/// A library whose import fails after that of another one, and works before it.
struct ImportOrder {
  std::string environment, library;
  std::string before;  ///< the library fails if this one is imported first
  Outcome outcome = Outcome::crashed;
  std::string reason;
};

/// How a plan is to be run.
struct Options {
  std::filesystem::path out;                   ///< holds, or gets, journal.jsonl
  std::map<std::string, std::string> pythons;  ///< environment -> interpreter
  std::string worker_main;                     ///< the script that the interpreter runs
  std::string build_id;                        ///< that workers must have; empty: any
  int jobs = 2;                                ///< imports at the same time
  double timeout_s = 30;                       ///< for each request
  double budget_s = 0;                         ///< of wall time; 0 = none
  double precision = 0.02;                     ///< half an interval over its median
  double free_memory = 0.25;                   ///< share of the machine's that workers leave alone
  std::uint64_t most_bytes = 0;                ///< of one worker's memory; 0: as the machine allows
  int replicas = 1;                            ///< workers that measure each cell
  std::vector<ImportOrder> orders;             ///< known from earlier runs
  bool isolate = false;                        ///< a worker holds one pair of libraries only
  std::uint64_t seed = 1;
  std::string context = "{}";  ///< JSON: what the document's context holds beside the results
  bool resume = false;         ///< go on with the journal that is there
};

/// What became of a run. Times in seconds.
struct Summary {
  double wall_s = 0;
  double round_s = 0;                 ///< of that, in timed rounds
  double timing_after_import_s = 0;   ///< in timed blocks, after the last import
  double library_after_import_s = 0;  ///< in libraries' untimed calls, after the last import
  double last_import_s = 0;           ///< from the start to the end of the last import
  std::size_t recorded = 0;           ///< cells with a result, those of earlier sessions included
  std::size_t measured = 0;           ///< of these, with a number
  std::vector<ImportOrder> orders;    ///< that this run found
  int signal = 0;                     ///< 0, SIGINT, SIGTERM or SIGHUP
  std::string disk_full;              ///< the disk's error, where it ended the run
};

/// Notified of what happens, on the calling thread. What it throws ends the run.
class Observer {
 public:
  virtual ~Observer() = default;

  /// At most twenty times a second. `done` never decreases.
  virtual void progress(std::size_t done, std::size_t total, const std::string& activity) = 0;
  virtual void recorded(const Entry& entry) = 0;

  /// Once, when the journal has a result or one worker's numbers of every cell but those that are
  /// left to a worker of their own; not where no cell needs another worker.
  virtual void covered() = 0;
};

/// Runs the plan's cells and writes the journal; leaves no process behind. SIGINT and SIGTERM end
/// it with what was measured (Summary::signal), a full disk likewise (Summary::disk_full). Throws
/// UsageError for bad options, and for a journal that cannot be made or continued.
Summary run(const plan::Plan& plan, const Options& options, Observer& observer);

}  // namespace dlbench::fleet
