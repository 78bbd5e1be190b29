#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/fleet.hpp"
#include "fleet/numbers.hpp"
#include "fleet/troubles.hpp"
#include "results/journal.hpp"

namespace dlbench::fleet {

/// What has become of each cell of a plan. A cell is recorded once, with a line in the journal.
class Ledger {
 public:
  /// `before`: what earlier sessions recorded.
  Ledger(const plan::Plan& plan, const results::JournalContents& before, int replicas,
         results::Journal& journal, Observer& observer);

  bool is_open(std::size_t cell) const { return !cells_[cell].recorded; }

  /// Does it lack a worker's share?
  bool needs(std::size_t cell) const { return is_open(cell) && shares(cell) < replicas_; }

  /// The shares that open cells lack, all together.
  std::size_t missing() const { return missing_; }

  /// Has a worker, but not yet all replicas, measured it?
  bool is_begun(std::size_t cell) const { return shares(cell) > 0; }

  /// What one worker measured, written to the journal at once; the cell is recorded with the last
  /// replica's. `verdict` holds all but the numbers. Of verdicts that disagree the dearer one is
  /// kept.
  void measured(std::size_t cell, const Entry& verdict, Share share);

  /// Records as `trouble`, or, if an earlier replica measured it, with that and a warning.
  void failed(std::size_t cell, const Trouble& trouble);

  /// Records what takes less than a device's clock can resolve, in rows of so many exchanges.
  /// `verdict` holds all that was seen of it.
  void below(std::size_t cell, const Entry& verdict, const Bound& bound, const DeviceTimer& timer,
             std::uint64_t iterations);

  /// Records what need not be timed: `verdict` holds all that was seen of it.
  void untimed(std::size_t cell, const Entry& verdict);

  /// A worker saw it, and left it to one that does nothing else.
  void postpone(std::size_t cell) { cover(cell); }

  /// Records what has a share of at least one replica, and writes all others down as not run.
  void close(std::string_view code, const std::string& reason);

  std::size_t total() const { return cells_.size(); }
  std::size_t recorded() const { return recorded_; }
  std::size_t numbers() const { return numbers_; }
  Troubles& troubles() { return troubles_; }

 private:
  /// Of a cell that some but not all replicas have measured.
  struct Partial {
    std::vector<Share> shares;
    Entry verdict;
  };
  struct CellState {
    bool recorded = false;
    bool covered = false;  ///< something is known of it, or it is postponed
    std::unique_ptr<Partial> partial;
  };

  std::size_t shares(std::size_t cell) const {
    return cells_[cell].partial ? cells_[cell].partial->shares.size() : 0;
  }
  Entry numbers_of(std::size_t cell) const;
  void record_numbers(std::size_t cell);
  void take_up(std::size_t cell, const Entry& entry);
  void record(std::size_t cell, const Entry& entry);
  void cover(std::size_t cell);

  const plan::Plan& plan_;
  std::vector<CellState> cells_;
  std::size_t replicas_;
  results::Journal& journal_;
  Observer& observer_;
  Troubles troubles_;
  std::size_t recorded_ = 0;
  std::size_t numbers_ = 0;
  std::size_t missing_ = 0;
  std::size_t uncovered_ = 0;
};

}  // namespace dlbench::fleet
