#include "supervisor/schedule.hpp"

#include <algorithm>
#include <iterator>
#include <random>
#include <utility>

#include "model/contains.hpp"
#include "supervisor/process/memory.hpp"
#include "supervisor/process/signals.hpp"
#include "supervisor/rounds/numbers.hpp"

namespace dlbench::supervisor {
namespace {

std::vector<std::string> environments_of(const plan::Plan& plan) {
  std::vector<std::string> environments;
  for (const plan::Pair& pair : plan.pairs) {
    add_new(environments, pair.environment);
  }
  return environments;
}

std::vector<std::size_t> pairs_in(const plan::Plan& plan, const std::string& environment) {
  std::vector<std::size_t> pairs;
  for (std::size_t pair = 0; pair < plan.pairs.size(); ++pair) {
    if (plan.pairs[pair].environment == environment) pairs.push_back(pair);
  }
  return pairs;
}

bool is_memory_short(const Options& options) {
  return memory().is_below(options.free_memory);
}

}  // namespace

Schedule::Schedule(Context& context) : context_(context) {
  if (context.options.isolate) {
    for (std::size_t pair = 0; pair < context.plan.pairs.size(); ++pair) {
      context.known.isolate(pair);
    }
  }
  // All environments are measured once before any of them is measured again, so that compared
  // environments are measured at about the same time. In random order, because a periodic load of
  // the machine would hit the same environment in each replica.
  // The passes after the last replica are for cells with disturbed workers; without such cells they
  // start none.
  std::vector<std::string> environments = environments_of(context.plan);
  const int replicas = context.options.replicas;
  for (int replica = 0; replica < 2 * replicas; ++replica) {
    std::shuffle(environments.begin(), environments.end(), context.random);
    for (const std::string& environment : environments) {
      add_job(environment, pairs_in(context.plan, environment), replica);
    }
  }
}

void Schedule::add_job(const std::string& environment, std::vector<std::size_t> pairs,
                       int replica) {
  Job job;
  job.group = {environment, {}, std::move(pairs)};
  job.place = queue_.size();
  job.replica = replica;
  queue_.push_back(std::move(job));
}

void Schedule::run() {
  while (!context_.budget.is_over()) {
    import_some();
    if (imported_.empty() && queue_.empty()) break;
    measure();
  }
  for (Runs* runs : {&importing_, &imported_}) {
    for (auto& run : *runs) retire(run);
    runs->clear();
  }
  evict_code();  // for the first worker of the next run
}

/// Gives the next workers other pages of the same code; see MappedCode.
void Schedule::evict_code() {
  if (context_.options.evict) kept_ = code_.evict();
}

/// The allowed number of concurrent imports: one for the first worker, so that its results appear
/// early.
std::size_t Schedule::most_imports() const {
  if (one_at_a_time_ || !has_imported_) return 1;
  return static_cast<std::size_t>(context_.options.jobs);
}

bool Schedule::must_wait() const {
  if (queue_.empty()) return false;
  const int replica = queue_.front().replica;
  // Which cells had a disturbed worker is known in the end.
  if (replica >= context_.options.replicas) return true;
  return replica > replica_ && (context_.options.evict || !context_.deaths.empty());
}

void Schedule::import_some() {
  while (true) {
    // An import may show that no second worker fits.
    while (importing_.size() + imported_.size() < most_imports()) {
      const bool is_first = importing_.empty() && imported_.empty();
      if (!is_first && is_memory_short(context_.options)) break;
      if (!is_first && must_wait()) break;
      std::unique_ptr<GroupRun> next = next_needed();
      if (!next) break;
      if (!is_first && !fits_into_memory(*next)) {
        queue_.push_front(next->job());
        break;
      }
      next->start();
      importing_.push_back(std::move(next));
    }
    if (importing_.empty()) break;
    const bool is_waiting = std::all_of(importing_.begin(), importing_.end(), [](const auto& run) {
      return run->is_importing() && run->is_alive();
    });
    if (is_waiting) wait_for_imports();
    advance_imports();
  }
  has_imported_ = has_imported_ || !imported_.empty();
}

void Schedule::advance_imports() {
  for (auto& run : importing_) {
    if (run->is_importing() && run->is_alive()) run->advance();
    if (run->unexplained_failure()) investigate(*run);
    if (run->is_too_large()) limit_memory(*run);
    if (!run->is_alive()) {
      requeue(*run);
      run.reset();
    } else if (!run->is_importing()) {
      // Compared sides are interleaved, in whatever order their imports end.
      const auto later = std::find_if(imported_.begin(), imported_.end(), [&](const auto& other) {
        return run->job().place < other->job().place;
      });
      imported_.insert(later, std::move(run));
    }
  }
  std::erase(importing_, nullptr);
}

std::optional<Job> Schedule::pop_job() {
  if (queue_.empty()) return std::nullopt;
  Job job = std::move(queue_.front());
  queue_.pop_front();
  if (job.replica > replica_) {
    replica_ = job.replica;
    context_.explain_failures();
    evict_code();
  }
  if (const auto kept = kept_.find(job.group.environment); kept != kept_.end()) {
    warn(job.warnings, "code-not-evicted",
         "another process uses " + kept->second +
             ", so workers have its code at the same place as those before",
         data_of("file", kept->second));
  }
  std::vector<Group> groups =
      plan_groups(context_.plan, job.group.pairs, context_.known, most_libraries_);
  for (std::size_t i = groups.size(); i-- > 1;) {
    Job rest = job;
    rest.group = std::move(groups[i]);
    queue_.push_front(std::move(rest));
  }
  job.group = std::move(groups.front());
  return job;
}

std::unique_ptr<GroupRun> Schedule::next_needed() {
  while (std::optional<Job> job = pop_job()) {
    auto run = std::make_unique<GroupRun>(context_, std::move(*job));
    if (run->is_needed()) return run;
  }
  return nullptr;
}

void Schedule::wait_for_imports() {
  throw_if_stopped();
  std::vector<Worker*> workers;
  for (const auto& run : importing_) {
    if (run->is_alive()) workers.push_back(run->worker());
  }
  const std::string what = importing_.size() == 1
                               ? importing_.front()->title()
                               : "libraries in " + std::to_string(importing_.size()) + " workers";
  context_.progress.activity("importing " + what);
  if (workers.size() < importing_.size()) return;
  wait(workers, 1.0);
}

/// Does a finding since the start of the worker explain the failed import? The next worker then has
/// another order or another group.
bool Schedule::is_explained(const GroupRun& run) const {
  const Group& group = run.job().group;
  const std::string& suspect = run.unexplained_failure()->failed.library;
  const std::vector<std::string> order =
      context_.known.in_order(group.environment, group.libraries);
  const auto place = std::find(order.begin(), order.end(), suspect);
  const std::vector<std::string>& before = run.unexplained_failure()->before;
  return std::any_of(before.begin(), before.end(), [&](const std::string& other) {
    // The cells of libraries that are kept apart fail before the next worker starts.
    if (context_.known.failure_between(group.environment, suspect, other)) return true;
    // Each pair of an isolated library has its own group; this group may be one.
    if (group.pairs.size() > 1 && !context_.known.can_share(group.environment, suspect, other)) {
      return true;
    }
    const auto known = context_.known.order_between(group.environment, suspect, other);
    return known && known->library == suspect &&
           std::find(place, order.end(), other) != order.end();
  });
}

/// Each branch except the first adds to `known` or is taken a bounded number of times, so that the
/// job is not repeated without end.
void Schedule::investigate(GroupRun& run) {
  if (is_explained(run)) {
    run.abandon_group();
    return;
  }
  const std::string& environment = run.job().group.environment;
  const GroupRun::UnexplainedFailure unexplained_failure = *run.unexplained_failure();
  const std::string& suspect = unexplained_failure.failed.library;
  const Failure& failure = unexplained_failure.failed.failure;
  ImportFinding finding = find_cause(context_, environment, unexplained_failure.before, suspect);
  using Kind = ImportFinding::Kind;
  bool is_new = false;
  if (finding.kind == Kind::alone) {
    run.confirm_failures(finding.failures);
    return;
  }
  // Concurrent imports may be slow, so they are tried one at a time before another library is
  // suspected.
  if (failure.outcome == Outcome::timed_out && !std::exchange(one_at_a_time_, true)) {
    run.abandon_group();
    return;
  }
  if (finding.kind == Kind::again) is_new = again_.insert({environment, suspect}).second;
  if (finding.kind == Kind::order) {
    is_new = context_.known.require_order(environment, suspect, finding.other,
                                          std::move(finding.failure));
  }
  if (finding.kind == Kind::apart) {
    is_new =
        context_.known.keep_apart(environment, suspect, finding.other, std::move(finding.failure));
  }
  if (!is_new) is_new = context_.known.isolate(environment, suspect, failure);
  if (!is_new) {
    for (const std::string& other : unexplained_failure.before) {
      context_.known.keep_apart(environment, suspect, other, failure);
    }
  }
  run.abandon_group();
}

/// A lone worker that exceeds its memory continues with the libraries that it has imported.
void Schedule::limit_memory(GroupRun& run) {
  const auto exists = [](const auto& other) { return other != nullptr; };
  if (std::count_if(importing_.begin(), importing_.end(), exists) == 1 && imported_.empty()) {
    most_libraries_ = std::min(most_libraries_, run.imported());
    run.shrink();
  } else {
    // Two workers do not fit at the same time.
    one_at_a_time_ = true;
    run.abandon_group();
  }
}

/// Measures the imported workers. After a death the remaining pairs are queued again.
void Schedule::measure() {
  while (!imported_.empty() && !context_.budget.is_over()) {
    measuring_ = std::move(imported_.front());
    imported_.erase(imported_.begin());
    measuring_->measure();
    requeue(*measuring_);
    retire(measuring_);
  }
}

void Schedule::requeue(const GroupRun& run) {
  for (const std::size_t pair : run.alone()) {
    Job job = run.job();
    job.group.pairs = {pair};
    queue_.push_front(std::move(job));
  }
  if (run.left().empty()) return;
  Job job = run.job();
  job.group.pairs = run.left();
  queue_.push_front(std::move(job));
}

void Schedule::retire(std::unique_ptr<GroupRun>& run) {
  if (run && run->is_alive()) {
    if (context_.options.evict) code_.add(run->job().group.environment, run->worker()->pid());
    context_.workers.dismiss(run->release());
  }
  run.reset();
}

/// Does the device memory suffice for one more worker? Imported workers count as users, because
/// some libraries create their context during import.
bool Schedule::fits_into_memory(const GroupRun& next) const {
  return std::all_of(next.devices().begin(), next.devices().end(), [&](const std::string& device) {
    std::size_t more = 1;
    for (const Runs* runs : {&imported_, &importing_}) {
      more +=
          static_cast<std::size_t>(std::count_if(runs->begin(), runs->end(), [&](const auto& run) {
            return run && run->devices().contains(device);
          }));
    }
    return context_.device_memory.has_room(device, more);
  });
}

void Schedule::abandon() {
  const auto end = [](GroupRun& run) {
    if (run.is_alive()) run.release().reset();
    run.record_finished_cells();
  };
  if (measuring_) end(*measuring_);
  for (Runs* runs : {&importing_, &imported_}) {
    for (auto& run : *runs) {
      if (run) end(*run);
    }
    runs->clear();
  }
}

}  // namespace dlbench::supervisor
