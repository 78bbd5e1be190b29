#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/entry.hpp"
#include "supervisor/rounds/phases.hpp"

namespace dlbench::supervisor {

/// The fewest rounds of a cell in a worker. Where rounds take seconds, the workers after the first
/// of three or more need only one.
inline constexpr std::size_t kFewestRounds = 3;

/// What one worker measured of one cell.
struct Samples {
  std::size_t cell = 0;  ///< index into Plan::cells
  std::string clock;
  std::string without;  ///< why this clock does not apply to this exchange
  std::uint64_t iterations = 0;
  std::size_t fewest_long = kFewestRounds;  ///< rounds that suffice after two seconds of rounds
  double first_ns = 0;
  std::vector<double> ns;  ///< mean of each round, in order of time
  std::vector<double> cpu_ns;
  std::vector<double> canary_ns;  ///< speed of the core in each round
  std::size_t moved = 0;          ///< rounds that changed their core
  std::size_t preempted = 0;      ///< rounds that were preempted
  std::size_t behind = 0;        ///< rounds that were left out because a device waited for the host
  double spent_ns = 0;           ///< in rounds
  double step_ns = 0;            ///< of the device's timer; 0 on other clocks
  std::vector<double> empty_ns;  ///< time of the empty row of each round
};

/// The target duration of a round.
inline constexpr double kRoundNs = 2e6;
/// The same if at least three workers measure a cell: the spread between processes is then larger
/// than the error of a round.
inline constexpr double kShortRoundNs = 1e6;
inline constexpr int kManyReplicas = 3;

/// One exchange in one worker: a cell for each clock, and the cells of its phases.
struct Task {
  int id = 0;
  std::size_t pair = 0;  ///< index into Plan::pairs
  double round_ns = kRoundNs;
  Exchange exchange;
  std::vector<Samples> clocks;
  PhaseRounds phases;
  bool prepared = false;
  double prepare_s = 0;  ///< duration of the prepare request, whether it succeeded or failed
  bool failed = false;   ///< the prepare request failed
  bool over = false;     ///< recorded, or left to another worker
  Entry verdict;         ///< outcome, evidence, observed, warnings: common to all clocks
  double floor_ns = 0;   ///< of its kind of call
};

/// What a round measures: a clock of an exchange, or all its phases.
struct Pick {
  Task* task = nullptr;
  Samples* clock = nullptr;  ///< one of Task::clocks; null: the phases

  bool is_phases() const { return clock == nullptr; }
};

}  // namespace dlbench::supervisor
