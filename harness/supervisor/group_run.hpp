#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "supervisor/context.hpp"
#include "supervisor/conversation.hpp"
#include "supervisor/imports/import_trials.hpp"
#include "supervisor/imports/loads.hpp"
#include "supervisor/ledger/cell_recorder.hpp"
#include "supervisor/rounds/instruments.hpp"
#include "supervisor/rounds/rounds.hpp"
#include "supervisor/rounds/task.hpp"

namespace dlbench::supervisor {

/// The work of one worker: the open cells of these pairs.
struct Job {
  Group group;
  std::size_t place = 0;       ///< position among the jobs of the run, in which they are measured
  int replica = 0;             ///< 0: the first worker of its cells
  int lost = 0;                ///< workers that ended while idle, or were killed in an import
  bool reference = true;       ///< false after a worker died measuring it
  bool reports_memory = true;  ///< of its devices; false after a worker died reporting it
  Warnings warnings{};         ///< for the entries, such as a lost worker
  std::set<Exchange> answered{};  ///< exchanges that were prepared once; time-outs of other cases
                                  ///< do not end them
};

/// Measures the exchanges of a group's pairs in one worker, from the imports to the verdicts. Each
/// batch is recorded before the next begins. If the worker dies, the current exchange is recorded
/// with the reason. The rest of its batch, which may be damaged, and the later batches are left to
/// the next worker.
class GroupRun {
 public:
  /// Records the cells whose library failed before.
  GroupRun(Context& context, Job job);
  GroupRun(const GroupRun&) = delete;
  GroupRun& operator=(const GroupRun&) = delete;
  ~GroupRun();

  /// Is anything left to measure?
  bool is_needed() const;

  /// Starts the worker. advance() handles its reply, if one has arrived, and requests the next
  /// import.
  void start();
  void advance();
  bool is_importing() const { return stage_ == Stage::importing; }
  bool is_alive() const { return worker_.is_alive(); }
  Worker* worker() const { return worker_.worker(); }

  /// An import that failed after those of other libraries; its cause is unknown.
  struct UnexplainedFailure {
    FailedImport failed;
    std::vector<std::string> before;  ///< in the order of import
  };
  const std::optional<UnexplainedFailure>& unexplained_failure() const {
    return unexplained_failure_;
  }
  /// Records the cells of files that also fail alone. The imports continue if the worker is alive.
  void confirm_failures(const std::vector<FailedImport>& failures);

  void resume_imports();
  /// Ends the worker and leaves its pairs to others.
  void abandon_group();

  /// Is memory short after at least two imports, with libraries still to be imported?
  bool is_too_large() const { return is_too_large_; }
  /// Leaves the libraries that are not imported yet to another worker.
  void shrink();
  std::size_t imported() const { return record_.imports.size(); }

  /// Measures the floors, the reference exchange and all batches.
  void measure();

  /// Records the cells that have enough rounds, without the worker.
  void record_finished_cells();

  /// Releases the worker, which the caller dismisses.
  std::unique_ptr<Worker> release();

  /// The devices that its worker uses memory of. The simulated device is in host memory and not
  /// included.
  const std::set<std::string>& devices() const { return devices_; }

  const Job& job() const { return job_; }
  /// The pairs that are left to other workers: all but those of alone(), if the worker died.
  const std::vector<std::size_t>& left() const { return left_; }
  /// The pairs that are left to a worker of their own.
  const std::set<std::size_t>& alone() const { return alone_; }
  std::string title() const;

 private:
  enum class Stage { waiting, importing, ready, dead };
  template <typename Work>
  void run_guarded(Work work);
  void record_death(const Death& death);
  static bool works(const Task& task, const Death& death);
  void record_death_in_exchange(Task& task, const Death& death, Failure failure);
  /// Leaves the current exchange to a worker of its pair.
  void isolate(const Task& task, const Failure& failure);
  /// Records an exchange that failed. In a worker of several pairs another exchange may be the
  /// cause of wrong values, so the exchange is then left to a worker of its pair.
  void fail(Task& task, const Failure& failure);
  void leave_to_own_worker(Task& task);

  std::optional<Failure> failure_of(const Exchange& exchange) const;
  void collect_tasks();
  void drop_unneeded_tasks();
  void fail_known_steps();
  void next_load();
  void loaded(const nlohmann::json& answer);
  /// Keeps libraries with different runtimes of one kind of device in separate workers, because no
  /// cell of that kind can be measured in a process with two.
  void separate_runtimes(const nlohmann::json& runtimes);
  void import_failed(const Failure& failure, bool died);
  bool uses_too_much_memory() const;

  void measure_batches();
  /// Prepares the exchanges and measures their first rounds, in slices if preparing takes long.
  void prepare_and_measure(std::span<Task> batch);
  bool is_coarse() const;
  double refinement_seconds(std::size_t shares) const;
  void record(std::span<Task> batch);
  void add_worker_warnings(Task& task) const;
  bool is_shared() const { return job_.group.pairs.size() > 1; }  ///< several pairs use the worker
  std::optional<Failure> predicted_time_out(const Task& task) const;
  void prepare(Task& task);
  void split(Task& task);
  void skip_if_like_baseline(Task& task);
  bool is_begun(const Task& task) const;  ///< an earlier worker measured the task
  void count_pending();

  Context& context_;
  Job job_;
  std::vector<Task> tasks_;
  std::optional<UnexplainedFailure> unexplained_failure_;
  bool is_too_large_ = false;
  std::vector<std::size_t> left_;
  std::set<std::size_t> alone_;
  CellRecorder recorder_;
  Loads loads_;
  Conversation worker_;
  Instruments instruments_;
  Rounds rounds_;
  Stage stage_ = Stage::waiting;
  results::WorkerRecord record_;
  std::set<std::string> devices_;
  /// The library whose import loaded each file of a driver or a runtime.
  std::map<std::string, std::string> runtimes_;
  std::ptrdiff_t pending_ = 0;
};

template <typename Work>
void GroupRun::run_guarded(Work work) {
  try {
    work();
  } catch (const Died& died) {
    record_death(died.death);
  } catch (const ProtocolError& error) {
    record_death(death_of(error));
  } catch (const nlohmann::json::exception& error) {
    record_death(death_of(error));
  }
}

}  // namespace dlbench::supervisor
