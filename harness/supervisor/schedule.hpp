#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "supervisor/group_run.hpp"
#include "supervisor/process/mapped_code.hpp"

namespace dlbench::supervisor {

/// Divides the pairs into groups, once for each replica; imports the libraries of a few groups at
/// the same time, and measures one worker after another while all others are stopped.
class Schedule {
 public:
  explicit Schedule(Context& context);

  /// Runs until all cells are recorded or the budget is used up; the remaining cells stay open.
  /// Throws Stopped.
  void run();

  /// After Stopped: ends all workers and records what has enough rounds.
  void abandon();

 private:
  using Runs = std::vector<std::unique_ptr<GroupRun>>;

  void add_job(const std::string& environment, std::vector<std::size_t> pairs, int replica);
  void import_some();
  std::size_t most_imports() const;
  /// Must the workers of earlier replicas end first? The next job may depend on them, and code that
  /// a worker maps cannot be evicted.
  bool must_wait() const;
  void evict_code();
  std::unique_ptr<GroupRun> next_needed();
  /// Takes the next job, divides its pairs into the groups that are possible now, and returns the
  /// first group.
  std::optional<Job> pop_job();
  void wait_for_imports();
  void advance_imports();
  void investigate(GroupRun& run);
  bool is_explained(const GroupRun& run) const;
  void limit_memory(GroupRun& run);
  void measure();
  void requeue(const GroupRun& run);
  void retire(std::unique_ptr<GroupRun>& run);
  bool fits_into_memory(const GroupRun& next) const;

  Context& context_;
  std::deque<Job> queue_;
  bool has_imported_ = false;
  int replica_ = 0;  ///< of the last job that was taken
  Runs importing_, imported_;
  std::unique_ptr<GroupRun> measuring_;
  std::size_t most_libraries_ = kAnyNumber;  ///< in one worker, limited by memory
  bool one_at_a_time_ = false;               ///< two concurrent imports were too slow or too large
  /// {environment, library}: imports that failed with other libraries and then worked with them.
  std::set<std::pair<std::string, std::string>> again_;
  MappedCode code_;
  std::map<std::string, std::string> kept_;  ///< by environment: a file that could not be evicted
};

}  // namespace dlbench::supervisor
