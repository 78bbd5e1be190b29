#include "fleet/pair.hpp"

#include <algorithm>
#include <utility>

#include "fleet/signals.hpp"
#include "model/places.hpp"

namespace dlbench::fleet {

PairRun::PairRun(Context& context, const Job& job)
    : context_(context), job_(job), pair_(context.plan.pairs[job.pair]), recorder_(context.ledger) {
  record_.environment = pair_.environment;
  record_.first = pair_.first;
  record_.second = pair_.second;
  collect_tasks();
}

PairRun::~PairRun() {
  context_.progress.forget(pending_);
}

std::string PairRun::title() const {
  std::string text = pair_.first;
  if (pair_.second != pair_.first) text += " and " + pair_.second;
  if (pair_.environment != "default") text += " in " + pair_.environment;
  return text;
}

bool PairRun::is_needed() const {
  return std::any_of(tasks_.begin(), tasks_.end(), [](const Task& task) { return !task.over; });
}

std::optional<Trouble> PairRun::trouble_of(const Exchange& exchange) const {
  std::optional<Trouble> trouble = context_.ledger.troubles().of(exchange);
  if (trouble && trouble->outcome == Outcome::not_run && job_.answered.contains(exchange))
    return {};
  return trouble;
}

void PairRun::collect_tasks() {
  for (const std::size_t cell : pair_.cells) {
    if (!context_.ledger.wants(cell, job_.replica)) continue;
    const Cell& planned = context_.plan.cells[cell];
    if (const auto trouble = trouble_of(planned.exchange)) {
      context_.ledger.failed(cell, *trouble);
      continue;
    }
    // The cells of one exchange stand side by side in the plan.
    if (tasks_.empty() || tasks_.back().exchange != planned.exchange) {
      Task& task = tasks_.emplace_back();
      task.id = static_cast<int>(tasks_.size());
      task.exchange = planned.exchange;
      task.verdict.has_ready = context_.plan.has_ready(planned.exchange);
    }
    for (const std::string& device : {source_of(planned.exchange), target_of(planned.exchange)}) {
      if (device != "cpu" && kind_of_device(device) != "sim") devices_.insert(device);
    }
    if (planned.phase != "exchange") {
      tasks_.back().phases.cells.push_back({planned.phase, cell});
      continue;
    }
    Samples& samples = tasks_.back().clocks.emplace_back();
    samples.cell = cell;
    samples.clock = planned.clock;
  }
}

PairRun::Reply PairRun::ask(const nlohmann::json& request, Activity activity, Task* task) {
  // Asked here too: of workers that answer at once nobody waits, and a signal would not be seen.
  throw_if_stopped();
  current_work_ = {activity, task};
  worker_->ask(request);
  return receive();
}

PairRun::Reply PairRun::receive() {
  Worker* const only = worker_.get();
  while (true) {
    if (const std::optional<Answer> answer = only->poll()) {
      if (const Death* death = std::get_if<Death>(&*answer)) throw Died{*death};
      const nlohmann::json& body = std::get<nlohmann::json>(*answer);
      context_.spent.add(body);
      if (body.contains("ok")) return {true, body["ok"]};
      if (body.contains("error")) return {false, body["error"]};
      throw Garbage("a second greeting");
    }
    throw_if_stopped();
    wait({&only, 1}, 1.0);
    context_.progress.tick();
  }
}

void PairRun::bury(const Death& death) {
  const double timeout_s = context_.options.timeout_s;
  // A SIGKILL during an import can come from a person, or from the kernel when several imports
  // exhaust the memory. The import is tried once more; a second SIGKILL is the cell's result.
  const bool is_importing =
      current_work_.activity == Activity::start || current_work_.activity == Activity::load;
  const bool is_lost = death.idle || (is_importing && death.signal == "SIGKILL");
  const bool first_loss = is_lost && job_.lost++ == 0;
  const Trouble trouble =
      fleet::trouble(death, describe(current_work_, loads_, death.step), timeout_s);
  if (first_loss) {
    warn(job_.warnings, "worker-lost", "a worker was lost once: " + death.how,
         data_of("signal", death.signal));
  } else if (current_work_.activity == Activity::start ||
             current_work_.activity == Activity::floors) {
    Trouble none = trouble;
    if (current_work_.activity == Activity::start)
      none.reason = "the worker did not start: " + death.how;
    if (current_work_.activity == Activity::start && death.kind == Death::Kind::timed_out)
      none.reason = trouble.reason;
    for (Task& task : tasks_) recorder_.fail(task, none);
  } else if (current_work_.activity == Activity::load) {
    const Load& load = loads_.current();
    if (load.needed) {
      if (!reverse_imports(load, trouble)) fail_role(load, trouble, true);
    } else {
      job_.reference = false;
    }
  } else if (current_work_.activity == Activity::reference) {
    job_.reference = false;
  } else if (current_work_.activity == Activity::device_floors) {
    // They are asked for once: the next worker does without, and finds out by itself whether the
    // device's own cells can be.
    warn(job_.warnings, "no-copy-floors",
         "no copy floors of a device: the worker died while it measured them: " + death.how,
         data_of("signal", death.signal));
  } else if (current_work_.activity == Activity::device_memory) {
    // Of this worker's cells: the next one judges its own.
    for (Task& task : tasks_) {
      warn(task.verdict.warnings, "no-guard", "not judged under guard: " + trouble.reason,
           data_of("signal", death.signal));
    }
  } else if (current_work_.activity == Activity::phases) {
    // What was done to tell them apart is ours; the exchange itself is sound.
    recorder_.fail_phases(*current_work_.task, trouble);
  } else if (current_work_.activity == Activity::exchange) {
    bury_with(*current_work_.task, death, trouble);
  }
  harvest();
  stage_ = Stage::dead;
  context_.workers.dismiss(std::move(worker_));
  forget_device_memory();
}

void PairRun::bury_with(Task& task, const Death& death, Trouble trouble) {
  if (death.step == "guard" && task.prepared) {
    // The libraries did nothing wrong, as the rounds showed: what was measured stands.
    std::string said = "no guard: the worker died under it: " + trouble.reason;
    if (!trouble.signal.empty()) said += " (" + trouble.signal + ")";
    warn(task.verdict.warnings, "no-guard", std::move(said), data_of("signal", trouble.signal));
    // A case of a case sweep has no rounds yet, and no other worker should die of it.
    if (context_.plan.case_sweep && (task.clocks.empty() || task.clocks.front().ns.empty())) {
      recorder_.pass_over(task);
    } else {
      recorder_.share(task, job_.warnings);
    }
    task.over = true;
  }
  Troubles& troubles = context_.ledger.troubles();
  if (death.step == "make") trouble.data["library"] = task.exchange.producer;
  if (death.step == "make" && !death.idle) troubles.make_failed(task.exchange, trouble);
  if (death.kind == Death::Kind::timed_out) troubles.timed_out(task.exchange, trouble);
  recorder_.fail(task, trouble);
}

std::unique_ptr<Worker> PairRun::release() {
  stage_ = Stage::dead;
  forget_device_memory();
  return std::move(worker_);
}

}  // namespace dlbench::fleet
