#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/journal.hpp"
#include "supervisor/ledger/failed_steps.hpp"
#include "supervisor/rounds/numbers.hpp"
#include "supervisor/supervisor.hpp"

namespace dlbench::supervisor {

/// The state of each cell of a plan. Each cell is recorded once, as a line in the journal.
class Ledger {
 public:
  /// `before`: the records of earlier sessions.
  Ledger(const plan::Plan& plan, const results::JournalContents& before, int replicas,
         results::Journal& journal, Observer& observer);

  bool is_open(std::size_t cell) const { return !cells_[cell].recorded; }

  /// Must another worker measure the cell?
  bool needs(std::size_t cell) const { return is_open(cell) && shares(cell) < replicas_; }

  /// The total number of shares that open cells lack.
  std::size_t missing() const { return missing_; }

  /// Has a worker measured the cell, but not yet all replicas?
  bool is_begun(std::size_t cell) const { return shares(cell) > 0; }

  /// What earlier workers measured of an open cell.
  std::span<const Share> shares_of(std::size_t cell) const { return cells_[cell].shares; }

  /// Adds the share of one worker and writes it to the journal at once; the cell is recorded with
  /// the share of the last replica. Shares of disturbed workers are left out, and others must
  /// measure the cell: where the core was slow as often as there are replicas, for another cause
  /// once. `verdict` has everything except the numbers. If verdicts disagree, the weaker claim is
  /// kept.
  void measured(std::size_t cell, const Entry& verdict, Share share);

  /// Records the cell as failed. If an earlier replica measured it, records those numbers with a
  /// warning.
  void failed(std::size_t cell, const Failure& failure);

  /// Records an exchange that is shorter than the device's clock can resolve in rows of
  /// `iterations` exchanges.
  void below(std::size_t cell, const Entry& verdict, const Bound& bound, const DeviceTimer& timer,
             std::uint64_t iterations);

  /// Records a cell that is not timed.
  void untimed(std::size_t cell, const Entry& verdict);

  /// A worker left the cell to a worker of its pair.
  void postpone(std::size_t cell) { cover(cell); }

  /// Records the cells that have at least one share, and all others as not-run with this code and
  /// reason.
  void close(std::string_view code, const std::string& reason);

  std::size_t total() const { return cells_.size(); }
  std::size_t recorded() const { return recorded_; }
  std::size_t numbers() const { return numbers_; }
  FailedSteps& failed_steps() { return failed_steps_; }
  CoreSpeed& core_speed() { return core_speed_; }

 private:
  struct CellState {
    bool recorded = false;
    bool covered = false;                   ///< it has a share, a result, or is postponed
    std::vector<Share> shares;              ///< of an open cell
    std::vector<Share> left_out;            ///< of workers with a slow core
    std::vector<PhaseRounds> other_phases;  ///< of workers whose times are left out
    std::unique_ptr<Entry> verdict;  ///< of its shares; a pointer, because most cells have none
  };

  std::size_t shares(std::size_t cell) const { return shares_of(cell).size(); }
  Entry numbers_of(std::size_t cell) const;
  void record_numbers(std::size_t cell);
  void leave_out_disturbed(CellState& state);
  void restore(std::size_t cell, const Entry& entry);
  void record(std::size_t cell, const Entry& entry);
  void cover(std::size_t cell);

  const plan::Plan& plan_;
  std::vector<CellState> cells_;
  std::size_t replicas_;
  /// Not while environments are compared: each replica has all of them, and none is dropped.
  bool replaces_disturbed_;
  results::Journal& journal_;
  Observer& observer_;
  FailedSteps failed_steps_;
  CoreSpeed core_speed_;
  std::size_t recorded_ = 0;
  std::size_t numbers_ = 0;
  std::size_t missing_ = 0;
  std::size_t uncovered_ = 0;
};

}  // namespace dlbench::supervisor
