#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fleet/cell_recorder.hpp"
#include "fleet/context.hpp"
#include "fleet/conversation.hpp"
#include "fleet/import_trials.hpp"
#include "fleet/instruments.hpp"
#include "fleet/loads.hpp"
#include "fleet/rounds.hpp"
#include "fleet/task.hpp"

namespace dlbench::fleet {

/// A worker's turn: what is left of the cells of these pairs.
struct Job {
  Group group;
  std::size_t place = 0;       ///< among the jobs of the run: they are measured in this order
  int replica = 0;             ///< 0: the first worker of each of its cells
  int lost = 0;                ///< workers that ended while idle, or were killed in an import
  bool reference = true;       ///< false once a worker died of it
  bool reports_memory = true;  ///< of its devices; false once a worker died of it
  Warnings warnings{};         ///< for the entries: that a worker was lost
  std::set<Exchange>
      answered{};  ///< that were prepared once, so that time-outs of other cases do not end them
};

/// What one worker holds: the exchanges of a group's pairs, from the imports to the verdicts. They
/// are measured batch by batch, and each batch is recorded before the next begins. However the
/// worker ends, the exchange at work is recorded with the reason; the rest of its batch, which may
/// have been damaged, and what comes after it are for the next worker.
class GroupRun {
 public:
  /// Records at once what inherits a trouble.
  GroupRun(Context& context, Job job);
  GroupRun(const GroupRun&) = delete;
  GroupRun& operator=(const GroupRun&) = delete;
  ~GroupRun();

  /// Is there anything to do for a worker?
  bool is_needed() const;

  /// Starts the worker. advance() takes what it may have answered, and requests the next import.
  void start();
  void advance();
  bool is_importing() const { return stage_ == Stage::importing; }
  bool is_alive() const { return worker_.is_alive(); }
  Worker* worker() const { return worker_.worker(); }

  /// An import that failed after those of other libraries; the cause is not known yet.
  struct Suspicion {
    FailedImport failed;
    std::vector<std::string> before;  ///< in the order of import
  };
  const std::optional<Suspicion>& suspicion() const { return suspicion_; }
  /// These fail alone too: their cells fail, and the imports go on where the worker lives.
  void confirm_failures(const std::vector<FailedImport>& failures);

  void resume_imports();
  /// Ends the worker; its pairs are left.
  void give_up();

  /// Two libraries at least are imported, others are not, and memory is short.
  bool is_too_large() const { return is_too_large_; }
  /// Leaves out the libraries that are not imported yet.
  void shrink();
  std::size_t imported() const { return record_.imports.size(); }

  /// Floors, reference, and all batches. The worker is then done for.
  void measure();

  /// Records what has enough rounds, without the worker.
  void harvest();

  /// The worker, to be dismissed.
  std::unique_ptr<Worker> release();

  /// The devices whose memory its worker takes. The simulated one is not among them: it is of one
  /// process, in the host's memory.
  const std::set<std::string>& devices() const { return devices_; }

  const Job& job() const { return job_; }
  /// The pairs that are left to other workers: all but those of alone(), if the worker died.
  const std::vector<std::size_t>& left() const { return left_; }
  /// Those that it left to a worker of their own each, because of wrong values.
  const std::set<std::size_t>& alone() const { return alone_; }
  std::string title() const;

 private:
  enum class Stage { waiting, importing, ready, dead };
  template <typename Work>
  void guarded(Work work);
  void bury(const Death& death);
  void bury_with(Task& task, const Death& death, Trouble trouble);
  /// The exchange that was at work when a worker of several pairs ended gets a worker of its own.
  void isolate(const Task& task, const Trouble& trouble);
  /// Ends the cells of an exchange that failed. Wrong values in a worker of several pairs may be
  /// another exchange's doing: then the exchange is left to a worker of the pair's own.
  void fail(Task& task, const Trouble& trouble);
  void leave(Task& task);

  std::optional<Trouble> trouble_of(const Exchange& exchange) const;
  void collect_tasks();
  void drop_what_is_not_wanted();
  void fail_known_troubles();
  void next_load();
  void loaded(const nlohmann::json& answer);
  void import_failed(const Trouble& trouble, bool died);
  bool takes_too_much_memory() const;

  Batch next_batch(std::size_t begin) const;
  /// Prepares and gives the first rounds, in slices where preparing takes long.
  void prepare_and_measure(Batch batch);
  bool is_coarse() const;
  double refinement_seconds(std::size_t shares) const;
  std::size_t count_shares(Batch batch) const;
  void record(Batch batch);
  void warn_of_company(Task& task) const;
  void prepare(Task& task);
  void split(Task& task);
  void climb(Task& task);
  bool is_begun(const Task& task) const;  ///< by an earlier worker
  void count_pending();

  Context& context_;
  Job job_;
  std::vector<Task> tasks_;
  std::optional<Suspicion> suspicion_;
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
  std::ptrdiff_t pending_ = 0;
};

template <typename Work>
void GroupRun::guarded(Work work) {
  try {
    work();
  } catch (const Died& died) {
    bury(died.death);
  } catch (const Garbage& garbage) {
    bury(death_of(garbage));
  } catch (const nlohmann::json::exception& error) {
    bury(death_of(error));
  }
}

}  // namespace dlbench::fleet
