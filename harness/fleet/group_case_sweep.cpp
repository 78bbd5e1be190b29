#include <algorithm>

#include "fleet/group_run.hpp"

namespace dlbench::fleet {
namespace {

/// The plain array's exchange that a case is held against. A case of one element has no size in
/// common with it.
const Task* baseline_of(const Task& sweep_case, const std::vector<Task>& tasks) {
  const Task* found = nullptr;
  for (const Task& task : tasks) {
    Exchange same = sweep_case.exchange;
    same.case_name = plan::kBaseline;
    same.bytes = task.exchange.bytes;
    if (task.exchange != same || !task.prepared) continue;
    if (found == nullptr || task.exchange.bytes == sweep_case.exchange.bytes) found = &task;
  }
  return found;
}

bool ends_alike(const Task& sweep_case, const Task& baseline) {
  // Nothing can be seen of an array without elements.
  const bool empty =
      sweep_case.exchange.bytes == 0 && sweep_case.verdict.outcome == Outcome::unproven;
  return (empty || sweep_case.verdict.outcome == baseline.verdict.outcome) &&
         sweep_case.verdict.changed == baseline.verdict.changed;
}

}  // namespace

bool GroupRun::is_begun(const Task& task) const {
  const auto begun = [this](const auto& one) { return context_.ledger.is_begun(one.cell); };
  return std::any_of(task.clocks.begin(), task.clocks.end(), begun) ||
         std::any_of(task.phases.cells.begin(), task.phases.cells.end(), begun);
}

/// A case that ends like the plain one has nothing new to tell in its time: it is judged and let
/// go. Where the last look finds otherwise it is timed all the same, and so is what an earlier
/// worker timed: else nobody would hear that this one disagrees.
void GroupRun::climb(Task& task) {
  if (task.exchange.case_name == plan::kBaseline) return;
  const Task* baseline = baseline_of(task, tasks_);
  if (baseline == nullptr || !ends_alike(task, *baseline) || is_begun(task)) return;
  const Reply reply = ask(judge_request(task), Activity::exchange, &task);
  if (!reply.ok) {
    recorder_.fail(task, read_error(reply.body, Outcome::wrong));
  } else {
    read_judged(reply.body, task);
    if (!ends_alike(task, *baseline)) return;
    recorder_.pass_over(task);
  }
  ask(drop_request(task), Activity::drop);
}

}  // namespace dlbench::fleet
