#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "fleet/ledger.hpp"
#include "fleet/task.hpp"

namespace dlbench::fleet {

/// Writes down in the ledger what has become of one worker's tasks. Knows nothing of the worker.
class CellRecorder {
 public:
  explicit CellRecorder(Ledger& ledger) : ledger_(ledger) {}

  /// The worker imports that library now, after those named before.
  void importing(const std::string& library);

  /// Ends all its cells as that.
  void fail(Task& task, const Trouble& trouble);
  void fail_phases(Task& task, const Trouble& trouble);

  /// Ends it here: a worker of its own is to judge it.
  void postpone(Task& task);

  /// Ends it with its verdict, and no numbers.
  void pass_over(Task& task);

  /// Records the cells of clocks that do not apply to this exchange.
  void drop_clocks(Task& task);

  /// Records what has enough rounds, with these warnings beside its own. It is over where nothing
  /// is left open.
  void share(Task& task, const Warnings& warnings);

  /// How fast the core was in a round of this worker; 0: not measured.
  void saw_canary(double ns);

 private:
  void failed(std::size_t cell, const Task& task, Trouble trouble);
  /// Two libraries in the order of import; empty for one.
  std::vector<std::string> imports_of(const Exchange& exchange) const;
  Entry verdict_of(const Task& task) const;
  bool share_phases(Task& task);  ///< false where rounds are missing

  Ledger& ledger_;
  std::vector<std::string> imports_;
  double best_canary_ns_ = std::numeric_limits<double>::infinity();
};

/// Cells that have enough rounds and are not recorded yet.
std::ptrdiff_t pending_cells(std::span<const Task> tasks);

}  // namespace dlbench::fleet
