#include "supervisor/group_run.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "model/contains.hpp"
#include "model/places.hpp"

namespace dlbench::supervisor {

GroupRun::GroupRun(Context& context, Job job)
    : context_(context),
      job_(std::move(job)),
      recorder_(context.ledger),
      worker_(context),
      instruments_(context, worker_),
      rounds_(context, worker_, recorder_,
              [this](Task& task, const Failure& failure) { fail(task, failure); }) {
  record_.environment = job_.group.environment;
  collect_tasks();
}

GroupRun::~GroupRun() {
  context_.progress.forget(pending_);
}

std::string GroupRun::title() const {
  const std::vector<std::string>& libraries = job_.group.libraries;
  std::string text = libraries.front();
  if (libraries.size() == 2) text += " and " + libraries.back();
  if (libraries.size() > 2) text = std::to_string(libraries.size()) + " libraries";
  if (job_.group.environment != "default") text += " in " + job_.group.environment;
  return text;
}

bool GroupRun::is_needed() const {
  return std::any_of(tasks_.begin(), tasks_.end(), [](const Task& task) { return !task.over; });
}

std::optional<Failure> GroupRun::failure_of(const Exchange& exchange) const {
  if (auto apart = context_.known.failure_between(exchange.environment, exchange.producer,
                                                  exchange.consumer)) {
    return apart;
  }
  std::optional<Failure> failure = context_.ledger.failed_steps().of(exchange);
  if (failure && failure->outcome == Outcome::not_run && job_.answered.contains(exchange))
    return {};
  return failure;
}

void GroupRun::collect_tasks() {
  for (const std::size_t pair : job_.group.pairs) {
    for (const std::size_t cell : context_.plan.pairs[pair].cells) {
      if (!context_.ledger.needs(cell)) continue;
      const Cell& planned = context_.plan.cells[cell];
      if (const auto failure = failure_of(planned.exchange)) {
        context_.ledger.failed(cell, *failure);
        continue;
      }
      // The cells of one exchange are adjacent in the plan.
      if (tasks_.empty() || tasks_.back().exchange != planned.exchange) {
        Task& task = tasks_.emplace_back();
        task.pair = pair;
        task.exchange = planned.exchange;
        if (context_.options.replicas >= kManyReplicas) task.round_ns = kShortRoundNs;
        task.verdict.has_ready = context_.plan.has_ready(planned.exchange);
      }
      for (const std::string& device : {source_of(planned.exchange), target_of(planned.exchange)}) {
        if (device != "cpu" && kind_of_device(device) != "sim") devices_.insert(device);
      }
      if (planned.phase != Phase::exchange) {
        tasks_.back().phases.cells.push_back({planned.phase, cell});
        continue;
      }
      Samples& samples = tasks_.back().clocks.emplace_back();
      samples.cell = cell;
      samples.clock = planned.clock;
      if (job_.replica > 0 && context_.options.replicas >= kManyReplicas) samples.fewest_long = 1;
    }
  }
  // The plain array and the smallest size come first. A case sweep compares its cases
  // with the plain array, and a time-out at one size spares the larger ones. What a budget leaves
  // out are the libraries that fewest people use.
  std::stable_sort(tasks_.begin(), tasks_.end(), [this](const Task& a, const Task& b) {
    const auto place = [this](const std::string& library) {
      const std::vector<std::string>& first = context_.options.first;
      return std::find(first.begin(), first.end(), library) - first.begin();
    };
    const auto rank = [&](const Exchange& exchange) {
      const auto rarer = std::max(place(exchange.producer), place(exchange.consumer));
      return std::tuple(exchange.case_name != plan::kBaseline, context_.budget.is_set() ? rarer : 0,
                        exchange.bytes);
    };
    return rank(a.exchange) < rank(b.exchange);
  });
  for (std::size_t i = 0; i < tasks_.size(); ++i) tasks_[i].id = static_cast<int>(i) + 1;
}

/// Drops tasks that other workers have recorded meanwhile, and pairs that now need their own
/// worker.
void GroupRun::drop_unneeded_tasks() {
  for (const std::size_t pair : job_.group.pairs) {
    if (is_shared() && context_.known.is_isolated(context_.plan.pairs[pair], pair)) {
      left_.push_back(pair);
    }
  }
  const std::vector<std::size_t> isolated = left_;
  for (Task& task : tasks_) {
    const auto is_unwanted = [this](const auto& cell) { return !context_.ledger.needs(cell.cell); };
    std::erase_if(task.clocks, is_unwanted);
    std::erase_if(task.phases.cells, is_unwanted);
    const bool is_left = contains(isolated, task.pair);
    task.over = task.over || is_left || (task.clocks.empty() && task.phases.cells.empty());
    if (!task.over && is_shared() && context_.failed_beside_others.contains(task.exchange)) {
      leave_to_own_worker(task);
    }
  }
}

void GroupRun::fail_known_steps() {
  for (Task& task : tasks_) {
    if (task.over) continue;
    if (const auto failure = failure_of(task.exchange)) recorder_.fail(task, *failure);
  }
}

void GroupRun::record_death(const Death& death) {
  const double timeout_s = context_.options.timeout_s;
  const auto [activity, task_at_work] = worker_.current_work();
  // Retry once after a failure that may be accidental: a SIGKILL from a user, or from the kernel
  // when several imports exhaust the memory, and a late start on a busy machine.
  const bool is_importing = activity == Activity::start || activity == Activity::load;
  const bool is_lost = death.idle || (is_importing && death.signal == "SIGKILL") ||
                       activity == Activity::start || (activity == Activity::floors && is_shared());
  const bool first_loss = is_lost && job_.lost++ == 0;
  const Failure failure = supervisor::explain_death(
      death, describe(worker_.current_work(), loads_, death.step), timeout_s);
  if (first_loss) {
    warn(job_.warnings, "worker-lost", "a worker ended unexpectedly: " + death.how,
         data_of("signal", death.signal));
  } else if (activity == Activity::floors && is_shared()) {
    // One of the libraries ends the worker. A worker for each pair shows which one.
    for (const std::size_t pair : job_.group.pairs) context_.known.isolate(pair);
  } else if (activity == Activity::start || activity == Activity::floors) {
    Failure none = failure;
    if (activity == Activity::start) none.reason = "the worker did not start: " + death.how;
    if (activity == Activity::start && death.kind == Death::Kind::timed_out)
      none.reason = failure.reason;
    for (Task& task : tasks_) recorder_.fail(task, none);
  } else if (activity == Activity::load) {
    import_failed(failure, true);
  } else if (activity == Activity::reference) {
    job_.reference = false;
  } else if (activity == Activity::device_floors) {
    // The copy floors are requested only once, and the cells are recorded before.
    warn(job_.warnings, "no-copy-floors",
         "the worker died while it measured a device's copy floors: " + death.how,
         data_of("signal", death.signal));
  } else if (activity == Activity::device_memory) {
    job_.reports_memory = false;
    for (const std::string& device : devices_) context_.device_memory.add_unknown(device);
  } else if (activity == Activity::phases) {
    // Only dlbench's separation of the phases failed; the exchange itself is sound.
    recorder_.fail_phases(*task_at_work, failure);
    context_.known.isolate(task_at_work->pair);
  } else if (activity == Activity::drop) {
    context_.known.isolate(task_at_work->pair);
  } else if (activity == Activity::exchange && is_shared() && !works(*task_at_work, death)) {
    // Another exchange may have damaged the worker, so measure the pair in its own worker.
    isolate(*task_at_work, failure);
  } else if (activity == Activity::exchange) {
    record_death_in_exchange(*task_at_work, death, failure);
  }
  left_ = job_.group.pairs;
  std::erase_if(left_, [this](std::size_t pair) { return alone_.contains(pair); });
  for (Task& task : tasks_) task.over = true;
  count_pending();
  stage_ = Stage::dead;
  worker_.dismiss();
  instruments_.forget_device_memory();
}

void GroupRun::record_finished_cells() {
  for (Task& task : tasks_) {
    if (!task.over && task.prepared) recorder_.share(task, job_.warnings);
  }
  for (Task& task : tasks_) task.over = true;
  count_pending();
}

void GroupRun::fail(Task& task, const Failure& failure) {
  if (const auto lost = failure.data.find("lost"); lost != failure.data.end()) {
    context_.ledger.failed_steps().device_lost(lost->second, failure);
  }
  if (failure.outcome != Outcome::wrong || !is_shared()) {
    context_.failed_beside_others.erase(task.exchange);
    recorder_.fail(task, failure);
    return;
  }
  context_.failed_beside_others.emplace(task.exchange, failure);
  leave_to_own_worker(task);
}

void GroupRun::leave_to_own_worker(Task& task) {
  recorder_.postpone(task);
  alone_.insert(task.pair);
  // The cases of a case sweep are compared with the plain array, so they stay together.
  if (!context_.plan.case_sweep) return;
  for (Task& other : tasks_) {
    if (other.pair == task.pair) recorder_.postpone(other);
  }
}

void GroupRun::isolate(const Task& task, const Failure& failure) {
  const Exchange& exchange = task.exchange;
  context_.known.isolate(task.pair);
  context_.failed_beside_others.emplace(exchange, failure);
  // If two pairs of a library end a worker, its other pairs are likely to do so. A pair with a
  // library that is isolated already does not count.
  for (const auto& [library, other] : {std::pair(exchange.producer, exchange.consumer),
                                       std::pair(exchange.consumer, exchange.producer)}) {
    if (context_.known.isolated_by(exchange.environment, other)) continue;
    std::set<std::size_t>& pairs = context_.deaths[{exchange.environment, library}];
    pairs.insert(task.pair);
    if (pairs.size() > 1) context_.known.isolate(exchange.environment, library, failure);
  }
}

// Did the worker die in a trial after the rounds, which showed that the exchange works?
bool GroupRun::works(const Task& task, const Death& death) {
  return task.prepared && (death.step == Step::guard || death.step == Step::recorder);
}

void GroupRun::record_death_in_exchange(Task& task, const Death& death, Failure failure) {
  if (works(task, death)) {
    std::string text = "no guard: the worker died while ";
    text += death.step == Step::guard ? "pages were guarded" : "a proxy was an argument";
    text += ": " + failure.reason;
    if (!failure.signal.empty()) text += " (" + failure.signal + ")";
    warn(task.verdict.warnings, "no-guard", std::move(text), data_of("signal", failure.signal));
    // A case of a case sweep has no rounds yet and must not end another worker.
    if (context_.plan.case_sweep && (task.clocks.empty() || task.clocks.front().ns.empty())) {
      recorder_.pass_over(task);
    } else {
      recorder_.share(task, job_.warnings);
    }
    task.over = true;
  }
  context_.known.isolate(task.pair);
  FailedSteps& failed_steps = context_.ledger.failed_steps();
  if (death.step == Step::make) failure.data["library"] = task.exchange.producer;
  if (death.step == Step::make && !death.idle) failed_steps.make_failed(task.exchange, failure);
  // A hang under the guard shows nothing about other sizes and cases.
  if (death.kind == Death::Kind::timed_out && !works(task, death)) {
    failed_steps.timed_out(task.exchange, failure);
  }
  context_.failed_beside_others.erase(task.exchange);
  recorder_.fail(task, failure);
}

std::unique_ptr<Worker> GroupRun::release() {
  stage_ = Stage::dead;
  instruments_.forget_device_memory();
  return worker_.release();
}

}  // namespace dlbench::supervisor
