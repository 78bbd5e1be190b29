#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "supervisor/ledger/ledger.hpp"
#include "supervisor/rounds/task.hpp"

namespace dlbench::supervisor {

/// Records the results of one worker's tasks in the ledger.
class CellRecorder {
 public:
  explicit CellRecorder(Ledger& ledger) : ledger_(ledger) {}

  /// The worker imports this library after those of earlier calls.
  void importing(const std::string& library);

  /// Records all cells of the task as failed.
  void fail(Task& task, const Failure& failure);
  void fail_phases(Task& task, const Failure& failure);

  /// Ends the task in this worker; a worker of its pair measures it later.
  void postpone(Task& task);

  /// Records the outcome of the task without a time.
  void pass_over(Task& task);

  /// Records the cells of clocks that do not apply to this exchange.
  void drop_clocks(Task& task);

  /// Records the cells that have enough rounds, with additional `warnings`. The task is over if no
  /// cell is left.
  void share(Task& task, const Warnings& warnings);

 private:
  void failed(std::size_t cell, const Task& task, Failure failure);
  /// The two libraries in the order of import; empty for a single one.
  std::vector<std::string> imports_of(const Exchange& exchange) const;
  Entry verdict_of(const Task& task) const;
  bool share_phases(Task& task);  ///< false if rounds are missing

  Ledger& ledger_;
  std::vector<std::string> imports_;
};

/// Cells that have enough rounds and are not recorded yet.
std::ptrdiff_t pending_cells(std::span<const Task> tasks);

}  // namespace dlbench::supervisor
