#include <unistd.h>

#include <algorithm>
#include <utility>

#include "fleet/numbers.hpp"
#include "fleet/pace.hpp"
#include "fleet/pair.hpp"
#include "fleet/signals.hpp"

namespace dlbench::fleet {
namespace {

// What a worker may hold at once. Each exchange keeps a pool of arrays, so eight times its bytes.
constexpr std::uint64_t kGroupBytes = std::uint64_t{512} << 20;
constexpr std::uint64_t kPool = 8;

// With a budget, exchanges that were prepared for so long get their first rounds before the next
// are prepared: a budget that ends during the preparation has measured what was prepared.
constexpr double kMostPreparing_s = 0.25;

}  // namespace

std::vector<PairRun::Group> PairRun::groups() const {
  std::vector<Group> all;
  std::uint64_t held = 0;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (tasks_[i].over) continue;
    const std::uint64_t bytes = tasks_[i].exchange.bytes * kPool;
    if (all.empty() || held + bytes > kGroupBytes) {
      all.emplace_back(i, i);
      held = 0;
    }
    held += bytes;
    all.back().second = i + 1;
  }
  return all;
}

void PairRun::visit(const std::function<void(PairRun&)>& refine) {
  context_.progress.activity("measuring " + title());
  guarded([&] {
    worker_->resume();
    instruments();
    const std::vector<Group> all = groups();
    for (const Group& group : all) {
      prepare_and_measure(group);
      if (all.size() == 1 || context_.budget.is_over()) continue;
      refine(*this);
      if (!is_alive()) return;
      worker_->resume();
      record_group(group, true);
      count_pending();
    }
    report_device_memory();
    worker_->stop();
  });
  count_pending();
}

void PairRun::prepare_and_measure(Group group) {
  Group slice{group.first, group.first};
  double begin = now_s();
  for (std::size_t i = group.first; i < group.second; ++i) {
    prepare(tasks_[i]);
    slice.second = i + 1;
    const bool is_last = slice.second == group.second;
    if (!is_last && !(context_.budget.is_set() && now_s() - begin > kMostPreparing_s)) continue;
    first_rounds(slice);
    count_pending();
    slice.first = slice.second;
    begin = now_s();
  }
}

void PairRun::prepare(Task& task) {
  if (task.over || context_.budget.is_over()) return;
  if (const auto trouble = trouble_of(task.exchange)) {
    recorder_.fail(task, *trouble);
    return;
  }
  const Reply reply = ask(prepare_request(task), Activity::exchange, &task);
  if (!reply.ok) {
    recorder_.fail(task, read_error(reply.body, Outcome::refused));
    return;
  }
  read_prepared(reply.body, record_.floors_ns, task);
  recorder_.drop_clocks(task);
  job_.answered.insert(task.exchange);
  if (context_.plan.case_sweep) climb(task);
  if (!task.over && !task.phases.is_over()) split(task);
}

/// Records the cells of clocks that tell nothing of this exchange.
void PairRun::split(Task& task) {
  const Reply reply = ask(split_request(task), Activity::phases, &task);
  if (!reply.ok) {
    recorder_.fail_phases(task, read_error(reply.body, Outcome::unsupported));
    return;
  }
  read_split(reply.body, task.phases);
}

void PairRun::add_phases(const PhaseTime& time, PhaseRounds& phases) {
  const double spent_ns = 3 * time.exchange_ns * static_cast<double>(phases.iterations);
  phases.rounds.push_back(time);
  phases.spent_ns += spent_ns;
  context_.round_s += spent_ns * 1e-9;
}

void PairRun::first_rounds(Group group) {
  std::vector<Pick> picks;
  for (std::size_t i = group.first; i < group.second; ++i) {
    if (!tasks_[i].prepared || tasks_[i].over) continue;
    for (std::size_t clock = 0; clock < tasks_[i].clocks.size(); ++clock) {
      picks.insert(picks.end(), kCoarseRounds, Pick{i, clock});
    }
    if (!tasks_[i].phases.is_over()) {
      picks.insert(picks.end(), kCoarseRounds, Pick{i, Pick::kPhases});
    }
  }
  std::shuffle(picks.begin(), picks.end(), context_.random);
  rounds(picks);
}

void PairRun::deal(const std::vector<Pick>& picks) {
  guarded([&] {
    worker_->resume();
    rounds(picks);
    worker_->stop();
  });
}

void PairRun::rounds(const std::vector<Pick>& picks) {
  std::span<const Pick> left(picks);
  while (!left.empty() && !context_.budget.is_over()) left = left.subspan(burst(left));
}

/// Asks for some rounds at once and sleeps while they run: waking up for each answer would cost a
/// tenth of a short round, and would take the processor from the next one. Returns how many of
/// `picks` it took.
std::size_t PairRun::burst(std::span<const Pick> picks) {
  throw_if_stopped();
  std::vector<Pick> asked;
  double expected_ns = 0;
  std::size_t taken = 0;
  for (; taken < picks.size() && expected_ns < kBurstNs; ++taken) {
    if (!is_due(tasks_, picks[taken])) continue;
    const double each = duration_ns(tasks_, picks[taken]);
    if (!asked.empty() && expected_ns + each > kBurstNs) break;
    expected_ns += each;
    asked.push_back(picks[taken]);
  }
  for (const Pick& pick : asked) {
    begin(pick);
    worker_->ask(request_of(pick));
  }
  if (asked.size() > 1) ::usleep(static_cast<useconds_t>(expected_ns * 1e-3));
  std::vector<Task*> failed;
  for (const Pick& pick : asked) {
    begin(pick);
    const Reply reply = receive();
    if (current_work_.task->over) continue;
    if (pick.is_phases()) {
      if (reply.ok) {
        add_phases(read_phases(reply.body, current_work_.task->phases), current_work_.task->phases);
      } else {
        recorder_.fail_phases(*current_work_.task, read_error(reply.body, Outcome::refused));
      }
    } else if (reply.ok) {
      Samples& samples = current_work_.task->clocks[pick.clock];
      add_round(read_round(reply.body, samples.clock), samples);
    } else {
      recorder_.fail(*current_work_.task, read_error(reply.body, Outcome::refused));
      failed.push_back(current_work_.task);
    }
  }
  for (const Task* task : failed) ask(drop_request(*task), Activity::drop);
  return taken;
}

void PairRun::begin(const Pick& pick) {
  current_work_ = {pick.is_phases() ? Activity::phases : Activity::exchange, &tasks_[pick.task]};
}

nlohmann::json PairRun::request_of(const Pick& pick) {
  const Task& task = tasks_[pick.task];
  return pick.is_phases() ? phases_request(task, context_.random() & 0xffffffffU)
                          : round_request(task, task.clocks[pick.clock]);
}

void PairRun::add_round(const RoundTime& time, Samples& samples) {
  const bool on_device = samples.clock == "device";
  const double spent_ns =
      on_device ? time.spent_ns : time.ns * static_cast<double>(samples.iterations);
  recorder_.saw_canary(time.canary_ns);
  samples.spent_ns += spent_ns;
  context_.round_s += spent_ns * 1e-9;
  if (time.behind) {
    // It has time of the host in it, or lacks it, where the empty row was late.
    ++samples.behind;
    return;
  }
  if (on_device) samples.empty_ns.push_back(time.empty_ns);
  samples.ns.push_back(time.ns);
  samples.cpu_ns.push_back(time.cpu_ns);
  samples.canary_ns.push_back(time.canary_ns);
  samples.moved += time.moved ? 1 : 0;
  samples.preempted += time.preempted ? 1 : 0;
}

void PairRun::record() {
  guarded([&] {
    worker_->resume();
    record_group({0, tasks_.size()}, false);
  });
  count_pending();
}

void PairRun::record_group(Group group, bool more_follow) {
  for (std::size_t i = group.first; i < group.second; ++i) {
    Task& task = tasks_[i];
    if (task.over || !task.prepared) continue;
    const Reply reply = ask(judge_request(task), Activity::exchange, &task);
    if (reply.ok) {
      read_judged(reply.body, task);
      recorder_.share(task, job_.warnings);
    } else {
      recorder_.fail(task, read_error(reply.body, Outcome::wrong));
    }
    if (more_follow) ask(drop_request(task), Activity::drop);
  }
}

void PairRun::harvest() {
  for (Task& task : tasks_) {
    if (!task.over && task.prepared) recorder_.share(task, job_.warnings);
  }
  for (Task& task : tasks_) task.over = true;
  count_pending();
}

void PairRun::count_pending() {
  const std::ptrdiff_t pending = pending_cells(tasks_);
  context_.progress.pending(pending - std::exchange(pending_, pending));
}

}  // namespace dlbench::fleet
