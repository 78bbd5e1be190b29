#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fleet/phases.hpp"
#include "model/entry.hpp"

namespace dlbench::fleet {

/// What one worker measured of one cell.
struct Samples {
  std::size_t cell = 0;  ///< index into Plan::cells
  std::string clock;
  std::string without;  ///< why this clock does not apply to this exchange
  std::uint64_t iterations = 0;
  double first_ns = 0;
  std::vector<double> ns;  ///< a round's mean each, in the order of time
  std::vector<double> cpu_ns;
  std::vector<double> canary_ns;  ///< of each round: how fast the core was
  std::size_t moved = 0;          ///< rounds that changed their core
  std::size_t preempted = 0;      ///< rounds that were preempted
  std::size_t behind = 0;         ///< rounds left out: a device waited for the host
  double spent_ns = 0;            ///< in rounds
  double step_ns = 0;             ///< of the device's timer; 0 on other clocks
  std::vector<double> empty_ns;   ///< of each round: what the empty row beside it took
};

/// How long a round is to be.
inline constexpr double kRoundNs = 2e6;
/// The same where three workers or more measure a cell: what processes differ by is then more than
/// what a round is off by.
inline constexpr double kShortRoundNs = 1e6;
inline constexpr int kManyReplicas = 3;

/// One exchange in one worker: its cells, one a clock, and those of its phases.
struct Task {
  int id = 0;
  std::size_t pair = 0;  ///< index into Plan::pairs
  double round_ns = kRoundNs;
  Exchange exchange;
  std::vector<Samples> clocks;
  PhaseRounds phases;
  bool prepared = false;
  double prepare_s = 0;  ///< until it was prepared or failed
  bool over = false;     ///< recorded, or not for this worker
  Entry verdict;         ///< outcome, evidence, seen, warnings: common to all clocks
  double floor_ns = 0;   ///< of its kind of call
};

/// A cell at hand: index into a worker's tasks, index into Task::clocks, or all phases of the
/// exchange.
struct Pick {
  static constexpr std::size_t kPhases = static_cast<std::size_t>(-1);

  std::size_t task = 0;
  std::size_t clock = 0;

  bool is_phases() const { return clock == kPhases; }
};

}  // namespace dlbench::fleet
