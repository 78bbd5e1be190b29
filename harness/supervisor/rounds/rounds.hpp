#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "supervisor/conversation.hpp"
#include "supervisor/ledger/cell_recorder.hpp"

namespace dlbench::supervisor {

/// Does each worker measure all rounds that a cell may have? It does with nine replicas or more:
/// two such runs are compared for changes of some percent, and between workers the lowest of six
/// rounds scatters more than that of twelve.
bool has_all_rounds(const Options& options);

/// The timed rounds of one worker's exchanges, in random order.
class Rounds {
 public:
  using OnFailure = std::function<void(Task& task, const Failure& failure)>;

  /// `on_failure` records an exchange that failed.
  Rounds(Context& context, Conversation& worker, CellRecorder& recorder, OnFailure on_failure)
      : context_(context),
        worker_(worker),
        recorder_(recorder),
        on_failure_(std::move(on_failure)) {}

  /// Measures the first rounds of every cell.
  void measure_first(std::span<Task> batch);
  /// Measures more rounds of the cells that are less precise than requested, for at most `seconds`.
  void refine(std::span<Task> batch, double seconds);

 private:
  /// Measures the rounds, and those in which the core was slow once more.
  void run(const std::vector<Pick>& picks);
  std::size_t burst(std::span<const Pick> picks);
  void receive_round(const Pick& pick, std::vector<Task*>& failed);
  /// Is the round of a slow core left out, to be measured again?
  bool is_left_out(const Pick& pick, bool was_slow, double spent_ns);
  nlohmann::json request_of(const Pick& pick);
  static Activity activity_of(const Pick& pick) {
    return pick.is_phases() ? Activity::phases : Activity::exchange;
  }

  Context& context_;
  Conversation& worker_;
  CellRecorder& recorder_;
  OnFailure on_failure_;
  std::vector<Pick> again_;  ///< rounds with a slow core, which are left out
  double kept_s_ = 0, left_out_s_ = 0;
};

}  // namespace dlbench::supervisor
