#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "fleet/pair.hpp"

// From the start of a worker to the last of its imports.
namespace dlbench::fleet {
namespace {

std::string command_of(const Options& options, const std::string& environment) {
  const auto found = options.pythons.find(environment);
  return found == options.pythons.end() ? "python3" : found->second;
}

}  // namespace

void PairRun::start() {
  stage_ = Stage::importing;
  current_work_ = {Activity::start, nullptr};
  loads_ = Loads(context_.plan, pair_, tasks_, job_.reference);
  if (job_.reversed) loads_.reverse();
  const std::string python = command_of(context_.options, pair_.environment);
  try {
    worker_ = context_.workers.start_worker(
        {python, context_.options.worker_main, "--fd", "3", "--parent", std::to_string(::getpid())},
        context_.options.timeout_s);
  } catch (const std::system_error& error) {
    Death death;
    death.how = presentable(error.what());
    bury(death);
  }
}

void PairRun::advance() {
  guarded([&] {
    const std::optional<Answer> answer = worker_->poll();
    if (!answer) return;
    if (const Death* death = std::get_if<Death>(&*answer)) throw Died{*death};
    loaded(std::get<nlohmann::json>(*answer));
    if (is_alive()) next_load();
  });
}

void PairRun::next_load() {
  if (!is_needed()) {
    // A library's own pair tells of both its roles, so that no other pair need ask.
    pair_.first == pair_.second ? loads_.skip_to_needed() : loads_.skip_all();
    if (loads_.is_over()) {
      stage_ = Stage::dead;
      context_.workers.dismiss(std::move(worker_));
      return;
    }
  }
  if (!loads_.is_over()) {
    const Load& load = loads_.current();
    current_work_.activity = Activity::load;
    if (load.needed) recorder_.importing(load.library);
    worker_->ask(load_request(load.role, load.library, load.path));
    return;
  }
  stage_ = Stage::ready;
  worker_->stop();
  context_.last_import_s = context_.budget.used();
  context_.spent_at_import = context_.spent;
}

void PairRun::loaded(const nlohmann::json& answer) {
  if (current_work_.activity == Activity::start) {
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
  const Load& load = loads_.take();
  if (answer.contains("ok")) {
    const nlohmann::json& ok = answer["ok"];
    const std::string version = ok.value("version", "");
    if (!version.empty()) record_.libraries[load.library] = version;
    if (load.needed) record_.import_s += std::max(0.0, ok.value("seconds", 0.0));
  } else if (load.needed) {
    const Trouble trouble = read_error(answer.at("error"), Outcome::import_failed);
    fail_role(load, trouble, trouble.outcome == Outcome::no_device);
  } else {
    job_.reference = false;
  }
}

// A library that ends the process beside another may not where it is imported first.
bool PairRun::reverse_imports(const Load& load, const Trouble& trouble) {
  const std::vector<std::string>& imports = recorder_.imports();
  const bool is_second = imports.size() > 1 && imports.back() == load.library;
  if (!is_second || job_.reversed || trouble.outcome != Outcome::crashed) return false;
  job_.reversed = true;
  warn(job_.warnings, "import-order",
       load.library + " crashed when " + imports.front() + " was imported before it" +
           (trouble.signal.empty() ? "" : ": " + trouble.signal),
       {{"library", load.library}, {"first", imports.front()}});
  return true;
}

void PairRun::fail_role(const Load& load, Trouble trouble, bool whole) {
  trouble.data["library"] = load.library;
  if (pair_.first == pair_.second) {
    Troubles& troubles = context_.ledger.troubles();
    troubles.import_failed(pair_.environment, load.library, load.role, trouble);
    // Nobody will ask for the other role.
    if (whole) {
      for (const char* role : {"producer", "consumer"}) {
        troubles.import_failed(pair_.environment, load.library, role, trouble);
      }
    }
  }
  for (Task& task : tasks_) {
    const bool produces = task.exchange.producer == load.library;
    const bool consumes = task.exchange.consumer == load.library;
    const bool concerned = whole                     ? produces || consumes
                           : load.role == "producer" ? produces
                                                     : consumes;
    if (concerned) recorder_.fail(task, trouble);
  }
}

}  // namespace dlbench::fleet
