#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fleet/activity.hpp"
#include "fleet/cell_recorder.hpp"
#include "fleet/context.hpp"
#include "fleet/loads.hpp"
#include "fleet/task.hpp"
#include "fleet/wire.hpp"

namespace dlbench::fleet {

/// One pair's turn: what is left of its cells for one replica.
struct Job {
  std::size_t pair = 0;
  int replica = 0;
  int lost = 0;                 ///< workers that ended while idle, or were killed in an import
  bool reference = true;        ///< false once a worker died of it
  Warnings warnings;            ///< for the entries: that a worker was lost
  bool reversed = false;        ///< the other order of import, since the first one ended a worker
  std::set<Exchange> answered;  ///< that were prepared once: others' time-outs say nothing of them
};

/// What one worker holds: a pair's exchanges, from the imports to the verdicts. However the
/// worker ends, the cells concerned are recorded with the reason, those measured so far with their
/// numbers; what is left open is for the next worker.
class PairRun {
 public:
  /// Records at once what inherits a trouble.
  PairRun(Context& context, const Job& job);
  PairRun(const PairRun&) = delete;
  PairRun& operator=(const PairRun&) = delete;
  ~PairRun();

  /// Is there anything to do for a worker?
  bool is_needed() const;

  /// Starts the worker and its imports, which advance() drives whenever it may have answered.
  void start();
  void advance();
  bool is_importing() const { return stage_ == Stage::importing; }
  bool is_alive() const { return worker_ != nullptr; }
  Worker* worker() { return worker_.get(); }

  /// Floors, reference, preparation and first rounds of all cells. Groups of exchanges that would
  /// not fit into memory together are also refined and recorded, by `refine`.
  void visit(const std::function<void(PairRun&)>& refine);

  /// A round of each, in this order.
  void deal(const std::vector<Pick>& picks);

  /// Judges again and records. The worker is then done for.
  void record();

  /// Records what has enough rounds, without the worker.
  void harvest();

  /// The worker, to be dismissed.
  std::unique_ptr<Worker> release();

  /// The devices whose memory its worker takes. The simulated one is not among them: it is of one
  /// process, in the host's memory.
  const std::set<std::string>& devices() const { return devices_; }

  const std::vector<Task>& tasks() const { return tasks_; }
  const Job& job() const { return job_; }
  std::string title() const;

 private:
  enum class Stage { waiting, importing, ready, dead };
  struct Reply {
    bool ok = false;
    nlohmann::json body;
  };
  struct Died {
    Death death;
  };
  using Group = std::pair<std::size_t, std::size_t>;  ///< tasks [first, second)

  template <typename Work>
  void guarded(Work work);
  Reply ask(const nlohmann::json& request, Activity activity, Task* task = nullptr);
  Reply receive();
  void bury(const Death& death);
  void bury_with(Task& task, const Death& death, Trouble trouble);

  std::optional<Trouble> trouble_of(const Exchange& exchange) const;
  void collect_tasks();
  void next_load();
  void loaded(const nlohmann::json& answer);
  /// Has the next worker import the libraries in the other order, where that may help.
  bool reverse_imports(const Load& load, const Trouble& trouble);
  /// Ends the cells of that role; of the `whole` library where it has no role left: its import took
  /// the worker along, or it finds no device.
  void fail_role(const Load& load, Trouble trouble, bool died);

  std::vector<Group> groups() const;
  /// Prepares and gives the first rounds; with a budget in slices.
  void prepare_and_measure(Group group);
  void instruments();
  void measure_floors();
  void measure_device_floors();
  void report_device_memory();
  void forget_device_memory();
  void measure_reference();
  void prepare(Task& task);
  void split(Task& task);
  void climb(Task& task);
  bool is_begun(const Task& task) const;  ///< by an earlier replica
  void first_rounds(Group group);
  void rounds(const std::vector<Pick>& picks);
  void add_round(const RoundTime& time, Samples& samples);
  void add_phases(const PhaseTime& time, PhaseRounds& phases);
  void begin(const Pick& pick);
  nlohmann::json request_of(const Pick& pick);
  std::size_t burst(std::span<const Pick> picks);
  void record_group(Group group, bool more_follow);
  void count_pending();

  Context& context_;
  Job job_;
  const plan::Pair& pair_;
  std::vector<Task> tasks_;
  CellRecorder recorder_;
  Loads loads_;
  std::unique_ptr<Worker> worker_;
  Stage stage_ = Stage::waiting;
  CurrentWork current_work_;
  results::WorkerRecord record_;
  std::set<std::string> devices_;
  std::map<std::string, std::uint64_t> device_bytes_;  ///< of each, what the worker took
  std::ptrdiff_t pending_ = 0;
};

template <typename Work>
void PairRun::guarded(Work work) {
  try {
    work();
  } catch (const Died& died) {
    bury(died.death);
  } catch (const Garbage& garbage) {
    Death death;
    death.how = std::string("it sent ") + garbage.what();
    bury(death);
  } catch (const nlohmann::json::exception& error) {
    Death death;
    death.how = std::string("it sent an answer of another shape: ") + error.what();
    bury(death);
  }
}

}  // namespace dlbench::fleet
