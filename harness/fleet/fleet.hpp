#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "plan/plan.hpp"

namespace dlbench::fleet {

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
  int signal = 0;                     ///< 0, SIGINT, SIGTERM or SIGHUP
  std::string disk_full;              ///< what the disk said, where it ended the run
};

/// Told of what happens, on the calling thread. What it throws ends the run.
class Observer {
 public:
  virtual ~Observer() = default;

  /// At most twenty times a second. `done` never decreases.
  virtual void progress(std::size_t done, std::size_t total, const std::string& activity) = 0;
  virtual void recorded(const Entry& entry) = 0;
};

/// Runs the plan's cells and writes the journal; leaves no process behind. SIGINT and SIGTERM end
/// it with what was measured (Summary::signal), a full disk likewise (Summary::disk_full). Throws
/// UsageError for bad options, and for a journal that cannot be made or continued.
Summary run(const plan::Plan& plan, const Options& options, Observer& observer);

}  // namespace dlbench::fleet
