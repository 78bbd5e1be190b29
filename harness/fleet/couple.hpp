#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fleet/context.hpp"
#include "fleet/task.hpp"
#include "fleet/wire.hpp"

namespace dlbench::fleet {

/// One couple's turn: what is left of its cells for one replica.
struct Job {
  std::size_t couple = 0;
  int replica = 0;
  int lost = 0;                 ///< workers that went away with nothing to do
  bool anchor = true;           ///< false once a worker died of it
  std::string warning;          ///< for the entries: that a worker was lost
  std::set<Exchange> answered;  ///< that were prepared once: others' time-outs say nothing of them
};

/// A cell at hand: index into tasks(), index into Task::clocks, or all phases of the exchange.
struct Pick {
  static constexpr std::size_t kPhases = static_cast<std::size_t>(-1);

  std::size_t task = 0;
  std::size_t clock = 0;

  bool is_phases() const { return clock == kPhases; }
};

/// What one worker holds: a couple's exchanges, from the imports to the verdicts. However the
/// worker ends, the cells concerned are settled with the reason, those measured so far with their
/// numbers; what is left open is for the next worker.
class CoupleRun {
 public:
  /// Settles at once what inherits a trouble.
  CoupleRun(Context& context, const Job& job);
  CoupleRun(const CoupleRun&) = delete;
  CoupleRun& operator=(const CoupleRun&) = delete;
  ~CoupleRun();

  /// Is there anything to do for a worker?
  bool is_needed() const;

  /// Starts the worker and its imports, which advance() drives whenever it may have answered.
  void start();
  void advance();
  bool is_importing() const { return stage_ == Stage::importing; }
  bool is_alive() const { return worker_ != nullptr; }
  Worker* worker() { return worker_.get(); }

  /// Floors, anchor, preparation and first rounds of all cells. Groups of exchanges that would not
  /// fit into memory together are also refined and settled, by `refine`.
  void visit(const std::function<void(CoupleRun&)>& refine);

  /// A round of each, in this order.
  void deal(const std::vector<Pick>& picks);

  /// Judges again and settles. The worker is then done for.
  void settle();

  /// Settles what has enough rounds, without the worker.
  void harvest();

  /// The worker, to be dismissed.
  std::unique_ptr<Worker> release();

  const std::vector<Task>& tasks() const { return tasks_; }
  const Job& job() const { return job_; }
  std::string title() const;

 private:
  enum class Stage { waiting, importing, ready, dead };
  enum class Doing { start, load, floors, device_floors, anchor, exchange, phases, drop };
  struct Load {
    std::string role, library, path;
    bool needed = true;  ///< false for the anchor's
  };
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
  Reply ask(const nlohmann::json& request, Doing doing, Task* task = nullptr);
  Reply receive();
  void bury(const Death& death);
  std::string what_it_did(const Death& death) const;

  std::optional<Trouble> trouble_of(const Exchange& exchange) const;
  void collect_tasks();
  void collect_loads();
  void next_load();
  void loaded(const nlohmann::json& answer);
  /// Ends the cells of that role; of the `whole` library where it has no role left: its import took
  /// the worker along, or it finds no device.
  void fail_role(const Load& load, const Trouble& trouble, bool died);
  void fail(Task& task, const Trouble& trouble);
  void fail_phases(Task& task, const Trouble& trouble);

  std::vector<Group> groups() const;
  void instruments();
  void prepare(Task& task);
  void drop_clocks(Task& task);
  void split(Task& task);
  void climb(Task& task);
  void pass_over(Task& task);
  void first_rounds(Group group);
  void rounds(const std::vector<Pick>& picks);
  void add_round(const RoundTime& time, Samples& samples);
  void add_phases(const PhaseTime& time, PhaseRounds& phases);
  bool is_due(const Pick& pick) const;
  double duration_ns(const Pick& pick) const;
  void begin(const Pick& pick);
  nlohmann::json request_of(const Pick& pick);
  std::size_t burst(std::span<const Pick> picks);
  void settle_group(Group group, bool more_follow);
  void share(Task& task);
  bool share_phases(Task& task);  ///< false where rounds are missing
  void count_pending();

  Context& context_;
  Job job_;
  const plan::Couple& couple_;
  std::vector<Task> tasks_;
  std::vector<Load> loads_;
  std::size_t next_load_ = 0;
  std::unique_ptr<Worker> worker_;
  Stage stage_ = Stage::waiting;
  Doing doing_ = Doing::start;
  Task* task_ = nullptr;
  results::WorkerRecord record_;
  std::ptrdiff_t pending_ = 0;
  double best_canary_ns_ = std::numeric_limits<double>::infinity();
};

template <typename Work>
void CoupleRun::guarded(Work work) {
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
