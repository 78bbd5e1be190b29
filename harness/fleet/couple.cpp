#include "fleet/couple.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "fleet/signals.hpp"

namespace dlbench::fleet {
namespace {

// The anchor's halves: every worker measures them.
constexpr const char* kNative = "native";

std::string command_of(const Options& options, const std::string& environment) {
  const auto found = options.pythons.find(environment);
  return found == options.pythons.end() ? "python3" : found->second;
}

}  // namespace

CoupleRun::CoupleRun(Context& context, const Job& job)
    : context_(context), job_(job), couple_(context.plan.couples[job.couple]) {
  record_.environment = couple_.environment;
  record_.first = couple_.first;
  record_.second = couple_.second;
  collect_tasks();
}

CoupleRun::~CoupleRun() {
  context_.progress.forget(pending_);
}

std::string CoupleRun::title() const {
  std::string text = couple_.first;
  if (couple_.second != couple_.first) text += " and " + couple_.second;
  if (couple_.environment != "default") text += " in " + couple_.environment;
  return text;
}

bool CoupleRun::is_needed() const {
  return std::any_of(tasks_.begin(), tasks_.end(), [](const Task& task) { return !task.over; });
}

std::optional<Trouble> CoupleRun::trouble_of(const Exchange& exchange) const {
  std::optional<Trouble> trouble = context_.ledger.troubles().of(exchange);
  if (trouble && trouble->outcome == Outcome::not_run && job_.answered.contains(exchange))
    return {};
  return trouble;
}

void CoupleRun::collect_tasks() {
  for (const std::size_t cell : couple_.cells) {
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

void CoupleRun::collect_loads() {
  const auto add = [this](const std::string& role, const std::string& library, bool needed) {
    for (const Load& load : loads_) {
      if (load.role == role && load.library == library) return;
    }
    for (const plan::Library& known : context_.plan.libraries) {
      if (known.name != library || known.environment != couple_.environment) continue;
      const std::string& path = role == "producer" ? known.producer_path : known.consumer_path;
      if (!path.empty()) loads_.push_back({role, library, path, needed});
    }
  };
  for (const Task& task : tasks_) {
    if (task.over) continue;
    add("producer", task.exchange.producer, true);
    add("consumer", task.exchange.consumer, true);
  }
  // `ready`, `address` and `values` may stand in either file of a library, also in the one whose
  // role is not asked for: without its `ready` a consumer that does not wait would look done.
  for (const Task& task : tasks_) {
    if (task.over) continue;
    for (const std::string& library : {task.exchange.producer, task.exchange.consumer}) {
      add("producer", library, true);
      add("consumer", library, true);
    }
  }
  if (!job_.anchor) return;
  add("producer", kNative, false);
  add("consumer", kNative, false);
}

void CoupleRun::start() {
  stage_ = Stage::importing;
  doing_ = Doing::start;
  collect_loads();
  const std::string python = command_of(context_.options, couple_.environment);
  try {
    worker_ = context_.crew.hire(
        {python, context_.options.worker_main, "--fd", "3", "--parent", std::to_string(::getpid())},
        context_.options.timeout_s);
  } catch (const std::system_error& error) {
    Death death;
    death.how = error.what();
    bury(death);
  }
}

void CoupleRun::advance() {
  guarded([&] {
    const std::optional<Answer> answer = worker_->poll();
    if (!answer) return;
    if (const Death* death = std::get_if<Death>(&*answer)) throw Died{*death};
    loaded(std::get<nlohmann::json>(*answer));
    if (is_alive()) next_load();
  });
}

void CoupleRun::next_load() {
  if (!is_needed()) {
    // A library's own couple tells of both its roles, so that no other couple need ask.
    const bool own = couple_.first == couple_.second;
    while (next_load_ < loads_.size() && !(own && loads_[next_load_].needed)) ++next_load_;
    if (next_load_ == loads_.size()) {
      stage_ = Stage::dead;
      context_.crew.dismiss(std::move(worker_));
      return;
    }
  }
  if (next_load_ < loads_.size()) {
    const Load& load = loads_[next_load_];
    doing_ = Doing::load;
    worker_->ask(load_request(load.role, load.library, load.path));
    return;
  }
  stage_ = Stage::ready;
  worker_->stop();
  context_.last_import_s = context_.budget.used();
  context_.spent_at_import = context_.spent;
}

void CoupleRun::loaded(const nlohmann::json& answer) {
  if (doing_ == Doing::start) {
    if (!answer.contains("hello")) throw Garbage("no greeting");
    const nlohmann::json& hello = answer["hello"];
    const std::string build = hello.value("build", "");
    if (!context_.options.build_id.empty() && build != context_.options.build_id) {
      throw Garbage("the greeting of build " + build + ", this is " + context_.options.build_id);
    }
    record_.python = hello.value("python", "");
    record_.gil = hello.value("gil", true);
    return;
  }
  const Load& load = loads_[next_load_++];
  if (answer.contains("ok")) {
    const nlohmann::json& ok = answer["ok"];
    const std::string version = ok.value("version", "");
    if (!version.empty()) record_.libraries[load.library] = version;
    if (load.needed) record_.import_s += std::max(0.0, ok.value("seconds", 0.0));
  } else if (load.needed) {
    const Trouble trouble = read_error(answer.at("error"), Outcome::import_failed);
    fail_role(load, trouble, trouble.outcome == Outcome::no_device);
  } else {
    job_.anchor = false;
  }
}

void CoupleRun::fail_role(const Load& load, const Trouble& trouble, bool whole) {
  if (couple_.first == couple_.second) {
    Troubles& troubles = context_.ledger.troubles();
    troubles.import_failed(couple_.environment, load.library, load.role, trouble);
    // Nobody will ask for the other role.
    if (whole) {
      for (const char* role : {"producer", "consumer"}) {
        troubles.import_failed(couple_.environment, load.library, role, trouble);
      }
    }
  }
  for (Task& task : tasks_) {
    const bool produces = task.exchange.producer == load.library;
    const bool consumes = task.exchange.consumer == load.library;
    const bool concerned = whole                     ? produces || consumes
                           : load.role == "producer" ? produces
                                                     : consumes;
    if (concerned) fail(task, trouble);
  }
}

void CoupleRun::fail(Task& task, const Trouble& trouble) {
  if (task.over) return;
  task.over = true;
  for (const Samples& samples : task.clocks) context_.ledger.failed(samples.cell, trouble);
  fail_phases(task, trouble);
}

CoupleRun::Reply CoupleRun::ask(const nlohmann::json& request, Doing doing, Task* task) {
  doing_ = doing;
  task_ = task;
  worker_->ask(request);
  return receive();
}

CoupleRun::Reply CoupleRun::receive() {
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
    if (Signals::caught() != 0) throw Stopped{Signals::caught()};
    wait({&only, 1}, 1.0);
    context_.progress.tick();
  }
}

std::string CoupleRun::what_it_did(const Death& death) const {
  switch (doing_) {
    case Doing::start:
      return "starting";
    case Doing::load:
      return "importing " + loads_[next_load_].library + " (" + loads_[next_load_].role + ")";
    case Doing::floors:
      return "measuring the floors";
    case Doing::device_floors:
      return "measuring a device's floors";
    case Doing::anchor:
      return "measuring the anchor";
    case Doing::drop:
      return "dropping arrays";
    case Doing::phases:
      return "telling the phases apart";
    case Doing::exchange:
      break;
  }
  const Exchange& x = task_->exchange;
  if (death.step == "make") return x.producer + " made an array";
  if (death.step == "call") return x.consumer + " took " + x.producer + "'s array";
  if (death.step == "ready") return "waiting for " + x.consumer + "'s data";
  if (death.step == "lifetime") return "counting what " + x.consumer + " gave back";
  if (death.step == "tap") return "watching what " + x.consumer + " asked for";
  if (death.step == "values") return "comparing the values";
  if (death.step == "guard") return x.consumer + " took " + x.producer + "'s array under guard";
  if (death.step == "outlive") return "reading what outlived " + x.producer + "'s array";
  if (death.step == "calibrate") return "calibrating the timed loop";
  return task_->prepared ? "in the timed loop" : "preparing";
}

void CoupleRun::bury(const Death& death) {
  const double timeout_s = context_.options.timeout_s;
  const bool first_loss = death.idle && job_.lost++ == 0;
  const Trouble trouble = fleet::trouble(death, what_it_did(death), timeout_s);
  if (first_loss) {
    job_.warning = "a worker was lost once: " + death.how;
  } else if (doing_ == Doing::start || doing_ == Doing::floors) {
    Trouble none = trouble;
    if (doing_ == Doing::start) none.reason = "the worker did not start: " + death.how;
    if (doing_ == Doing::start && death.kind == Death::Kind::timed_out)
      none.reason = trouble.reason;
    for (Task& task : tasks_) fail(task, none);
  } else if (doing_ == Doing::load) {
    const Load& load = loads_[next_load_];
    if (load.needed) {
      fail_role(load, trouble, true);
    } else {
      job_.anchor = false;
    }
  } else if (doing_ == Doing::anchor) {
    job_.anchor = false;
  } else if (doing_ == Doing::device_floors) {
    // They are asked for once: the next worker does without, and finds out by itself whether the
    // device's own cells can be.
    job_.warning = "no copy floors of a device: the worker died of them: " + death.how;
  } else if (doing_ == Doing::phases) {
    // What was done to tell them apart is ours; the exchange itself is sound.
    fail_phases(*task_, trouble);
  } else if (doing_ == Doing::exchange) {
    Troubles& troubles = context_.ledger.troubles();
    const Exchange exchange = task_->exchange;
    if (death.step == "guard" && task_->prepared) {
      // The libraries did nothing wrong, as the rounds showed: what was measured stands.
      task_->verdict.warnings.push_back("no guard: the worker died under it: " + trouble.reason);
      if (!trouble.signal.empty()) task_->verdict.warnings.back() += " (" + trouble.signal + ")";
      // A rung of a ladder has no rounds yet, and no other worker should die of it.
      if (context_.plan.ladder && task_->clocks.front().ns.empty()) {
        pass_over(*task_);
      } else {
        share(*task_);
      }
      task_->over = true;
    }
    if (death.step == "make" && !death.idle) troubles.make_failed(exchange, trouble);
    if (death.kind == Death::Kind::timed_out) troubles.timed_out(exchange, trouble);
    fail(*task_, trouble);
  }
  harvest();
  stage_ = Stage::dead;
  context_.crew.dismiss(std::move(worker_));
}

std::unique_ptr<Worker> CoupleRun::release() {
  stage_ = Stage::dead;
  return std::move(worker_);
}

}  // namespace dlbench::fleet
