#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "supervisor/plan/plan.hpp"

namespace dlbench::supervisor {

/// A library that cannot be imported after another one. The other order works.
struct ImportOrder {
  std::string environment, library;
  std::string before;  ///< the other library
  Outcome outcome = Outcome::crashed;
  std::string reason;
};

using Pythons = std::map<std::string, std::string>;

/// The options of a run.
struct Options {
#define DLBENCH_OPTION(type, name) type name{};
#include "supervisor/options.def"
#undef DLBENCH_OPTION
  std::string build_id;          ///< build that workers must have; empty: any
  double free_memory = 0.25;     ///< share of the machine's memory that workers must leave free
  std::uint64_t most_bytes = 0;  ///< limit of one worker's memory; 0: as the machine allows
};

/// The result of a run. Times are in seconds.
struct Summary {
  double wall_s = 0;
  double round_s = 0;                 ///< part of it that was spent in timed rounds
  double timing_after_import_s = 0;   ///< in timed blocks, after the last import
  double library_after_import_s = 0;  ///< in libraries' untimed calls, after the last import
  double last_import_s = 0;           ///< from the start to the end of the last import
  double budget_used_s = 0;           ///< of Options::budget_s, also if that is no limit
  std::size_t recorded = 0;           ///< cells with a result, including those of earlier sessions
  std::size_t measured = 0;           ///< recorded cells with a time
  std::vector<ImportOrder> orders;    ///< orders that this run found
  int signal = 0;                     ///< 0, SIGINT, SIGTERM or SIGHUP
  std::string disk_full;              ///< the disk's error if it ended the run
};

/// Receives events of a run on the calling thread. An exception from it ends the run.
class Observer {
 public:
  virtual ~Observer() = default;

  /// Called at most twenty times a second. `done` never decreases.
  virtual void progress(std::size_t done, std::size_t total, const std::string& activity) = 0;
  virtual void recorded(const Entry& entry) = 0;

  /// Called once, when every cell has a result or the numbers of one worker, except cells that are
  /// left to a worker of their pair. Not called if no cell needs another worker.
  virtual void covered() = 0;
};

/// Measures the cells of the plan and writes the journal. Leaves no process behind. SIGINT and
/// SIGTERM end the run and keep what was measured (Summary::signal); so does a full disk
/// (Summary::disk_full). Throws UsageError for invalid options and for a journal that cannot be
/// created or continued.
Summary run(const plan::Plan& plan, const Options& options, Observer& observer);

}  // namespace dlbench::supervisor
