#include <algorithm>
#include <system_error>
#include <utility>

#include "model/contains.hpp"
#include "model/places.hpp"
#include "supervisor/group_run.hpp"
#include "supervisor/process/memory.hpp"
#include "supervisor/wire.hpp"

// The part of GroupRun from the start of a worker to the last of its imports.
namespace dlbench::supervisor {

void GroupRun::start() {
  stage_ = Stage::importing;
  const std::string& environment = job_.group.environment;
  std::vector<std::string> needed = job_.group.libraries;
  std::erase_if(needed, [this](const std::string& library) {
    return std::none_of(tasks_.begin(), tasks_.end(), [&](const Task& task) {
      return !task.over && (task.exchange.producer == library || task.exchange.consumer == library);
    });
  });
  const auto is_broken = [&](const std::string& library, const std::string& role) {
    return context_.ledger.failed_steps().has_failed_import(environment, library, role);
  };
  loads_ = Loads(context_.plan, environment, context_.known.in_order(environment, needed),
                 is_broken, job_.reference);
  try {
    worker_.start(environment);
  } catch (const std::system_error& error) {
    Death death;
    death.how = presentable(error.what());
    record_death(death);
  }
}

void GroupRun::advance() {
  run_guarded([&] {
    const std::optional<nlohmann::json> answer = worker_.poll();
    if (!answer) return;
    loaded(*answer);
    if (is_alive() && !unexplained_failure_) next_load();
  });
}

void GroupRun::next_load() {
  if (!is_needed()) {
    stage_ = Stage::dead;
    worker_.dismiss();
    return;
  }
  if (!loads_.is_over()) {
    const Load& load = loads_.current();
    is_too_large_ =
        load.needed && loads_.begins_library() && imported() >= 2 && uses_too_much_memory();
    if (is_too_large_) return;
    if (load.needed) recorder_.importing(load.library);
    worker()->resume();
    worker_.send(request_of(load), Activity::load);
    return;
  }
  stage_ = Stage::ready;
  worker()->stop();
  context_.last_import_s = now_s() - context_.begin_s;
  context_.spent_at_import = context_.spent;
}

void GroupRun::loaded(const nlohmann::json& answer) {
  if (worker_.current_work().activity == Activity::start) {
    if (!answer.contains("hello")) throw ProtocolError("no greeting");
    const nlohmann::json& hello = answer["hello"];
    const std::string build = hello.value("build", "");
    if (!context_.options.build_id.empty() && build != context_.options.build_id) {
      throw ProtocolError("the greeting of dlbench build " + build + ", expected build " +
                          context_.options.build_id + "; install the same dlbench there");
    }
    record_.python = hello.value("python", "");
    record_.gil = hello.value("gil", true);
    return;
  }
  if (answer.contains("error")) {
    import_failed(read_error(answer["error"], Outcome::import_failed), false);
    return;
  }
  const Load& load = loads_.current();
  const nlohmann::json& ok = answer.at("ok");
  const std::string version = ok.value("version", "");
  const double seconds = ok.value("seconds", 0.0);
  if (load.needed) {
    add_new(record_.imports, load.library);
    record_.import_s += std::max(0.0, seconds);
    record_.import_seconds[load.library] += std::max(0.0, seconds);
  }
  if (!version.empty()) record_.libraries[load.library] = version;
  if (load.needed) {
    const nlohmann::json effects = ok.value("effects", nlohmann::json::object());
    for (const auto& [kind, names] : effects.items()) {
      std::vector<std::string>& all = record_.import_effects[load.library][kind];
      for (const nlohmann::json& name : names) all.push_back(name.get<std::string>());
    }
  }
  if (load.needed) separate_runtimes(ok.value("runtimes", nlohmann::json::object()));
  if (is_alive()) loads_.pop();
}

void GroupRun::separate_runtimes(const nlohmann::json& runtimes) {
  const std::string& library = loads_.current().library;
  bool is_new = false;
  for (const auto& [kind, files] : runtimes.items()) {
    bool is_own = false;
    std::vector<std::string> others;
    for (const nlohmann::json& file : files) {
      const std::string& owner = runtimes_.try_emplace(file, library).first->second;
      is_own = is_own || owner == library;
      if (owner != library) add_new(others, owner);
    }
    const bool is_used = std::any_of(devices_.begin(), devices_.end(), [&](const auto& device) {
      return kind_of_device(device) == kind;
    });
    if (!is_own || !is_used) continue;
    for (const std::string& other : others) {
      is_new = context_.known.separate(job_.group.environment, library, other) || is_new;
    }
  }
  if (is_new && is_shared()) abandon_group();
}

void GroupRun::import_failed(const Failure& failure, bool died) {
  const Load& load = loads_.current();
  if (!load.needed) {
    job_.reference = false;
    if (!died) loads_.pop();
    return;
  }
  FailedImport failed{load.library, load.role, failure, died};
  failed.failure.data["library"] = load.library;
  std::vector<std::string> before = record_.imports;
  std::erase(before, load.library);
  const bool is_known = context_.ledger.failed_steps().has_failed_import(job_.group.environment,
                                                                         load.library, load.role);
  if (before.empty() || is_known) {
    confirm_failures({failed});
  } else {
    unexplained_failure_ = UnexplainedFailure{std::move(failed), std::move(before)};
  }
}

void GroupRun::confirm_failures(const std::vector<FailedImport>& failures) {
  const bool was_suspected = unexplained_failure_.has_value();
  unexplained_failure_.reset();
  FailedSteps& failed_steps = context_.ledger.failed_steps();
  bool is_whole = false, is_current = false;
  for (const FailedImport& failed : failures) {
    const std::string& environment = job_.group.environment;
    // A library that ends the worker, or finds no device, fails in both roles.
    is_whole = is_whole || failed.died || failed.failure.outcome == Outcome::no_device;
    failed_steps.import_failed(environment, failed.library, failed.role, failed.failure);
    for (const char* role : {"producer", "consumer"}) {
      if (is_whole) failed_steps.import_failed(environment, failed.library, role, failed.failure);
    }
    is_current = is_current || failed.role == loads_.current().role;
  }
  fail_known_steps();
  if (!is_alive() || failures.back().died) {
    if (was_suspected && is_alive()) abandon_group();
    return;
  }
  // The file that fails alone is not the one that failed here, so start a worker without it.
  if (!is_whole && !is_current) {
    abandon_group();
    return;
  }
  if (is_whole) {
    loads_.skip_library();
  } else {
    loads_.pop();
  }
  if (was_suspected) resume_imports();
}

void GroupRun::shrink() {
  const auto is_missing = [this](const std::string& library) {
    return !contains(record_.imports, library);
  };
  for (const std::size_t index : job_.group.pairs) {
    const plan::Pair& pair = context_.plan.pairs[index];
    if (is_missing(pair.first) || is_missing(pair.second)) left_.push_back(index);
  }
  for (Task& task : tasks_) {
    if (is_missing(task.exchange.producer) || is_missing(task.exchange.consumer)) task.over = true;
  }
  is_too_large_ = false;
  loads_.skip_needed();
  resume_imports();
}

/// Is memory short, and does the worker use more than is left?
bool GroupRun::uses_too_much_memory() const {
  const std::uint64_t own = resident_bytes(worker()->pid());
  if (context_.options.most_bytes > 0) return own > context_.options.most_bytes;
  const Memory now = memory();
  return now.is_below(context_.options.free_memory) && own > now.available;
}

void GroupRun::resume_imports() {
  run_guarded([this] { next_load(); });
}

void GroupRun::abandon_group() {
  unexplained_failure_.reset();
  is_too_large_ = false;
  left_ = job_.group.pairs;
  for (Task& task : tasks_) task.over = true;
  stage_ = Stage::dead;
  worker_.dismiss();
}

}  // namespace dlbench::supervisor
