#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>

#include "fleet/ledger.hpp"
#include "fleet/task.hpp"

namespace dlbench::fleet {

/// Writes down in the ledger what has become of one worker's tasks. Knows nothing of the worker.
class Settling {
 public:
  explicit Settling(Ledger& ledger) : ledger_(ledger) {}

  /// Ends all its cells as that.
  void fail(Task& task, const Trouble& trouble);
  void fail_phases(Task& task, const Trouble& trouble);

  /// Ends it with its verdict, and no numbers.
  void pass_over(Task& task);

  /// Settles the cells of clocks that tell nothing of this exchange.
  void drop_clocks(Task& task);

  /// Settles what has enough rounds, with `warning` unless that is empty. It is over where nothing
  /// is left open.
  void share(Task& task, const std::string& warning);

  /// How fast the core was in a round of this worker; 0: nobody looked.
  void saw_canary(double ns);

 private:
  bool share_phases(Task& task);  ///< false where rounds are missing

  Ledger& ledger_;
  double best_canary_ns_ = std::numeric_limits<double>::infinity();
};

/// Cells that have enough rounds and are not settled yet.
std::ptrdiff_t pending_cells(std::span<const Task> tasks);

}  // namespace dlbench::fleet
