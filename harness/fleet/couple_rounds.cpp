#include <unistd.h>

#include <algorithm>
#include <utility>

#include "fleet/couple.hpp"
#include "fleet/numbers.hpp"
#include "model/places.hpp"
#include "stats/stats.hpp"

namespace dlbench::fleet {
namespace {

// What a worker may hold at once. Each exchange keeps a pool of arrays, so eight times its bytes.
constexpr std::uint64_t kGroupBytes = std::uint64_t{512} << 20;
constexpr std::uint64_t kPool = 8;

Task anchor_task(const std::string& environment) {
  Task task;
  task.exchange = {environment, "native", "native", "dlpack", "cpu", "f32", 4096};
  task.clocks.emplace_back().clock = "call";
  return task;
}

// Asked for at once: a few rounds of the usual length, or a single long one.
constexpr double kBurstNs = 24e6;

/// A round of the phases: the whole exchange, its parts without stamps, and with them.
constexpr double kPhasesRoundNs = 3.5 * kRoundNs;

/// How long a round will take, as far as one can tell.
double duration_ns(const Samples& samples) {
  if (!samples.ns.empty()) return samples.ns.back() * static_cast<double>(samples.iterations);
  // A single iteration may take any time.
  return samples.iterations > 1 ? kRoundNs : kBurstNs;
}

double duration_ns(const PhaseRounds& phases) {
  if (phases.rounds.empty()) return phases.iterations > 1 ? kPhasesRoundNs : kBurstNs;
  return phases.spent_ns / static_cast<double>(phases.rounds.size());
}

/// Very long rounds end early: see is_enough.
bool has_had_its_time(const Samples& samples) {
  return samples.ns.size() < kCoarseRounds && is_enough(samples);
}
bool has_had_its_time(const PhaseRounds& phases) {
  return phases.rounds.size() < kCoarseRounds && phases.is_enough();
}

/// The clock that GB/s are taken from: until the data is there, where that is another.
const Samples* data_clock(const Task& task) {
  const Samples* found = nullptr;
  for (const Samples& samples : task.clocks) {
    if (samples.clock == "ready" || (samples.clock == "call" && found == nullptr)) found = &samples;
  }
  return found != nullptr && is_enough(*found) ? found : nullptr;
}

}  // namespace

std::vector<CoupleRun::Group> CoupleRun::groups() const {
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

void CoupleRun::visit(const std::function<void(CoupleRun&)>& refine) {
  context_.progress.doing("measuring " + title());
  guarded([&] {
    worker_->resume();
    instruments();
    const std::vector<Group> all = groups();
    for (const Group& group : all) {
      for (std::size_t i = group.first; i < group.second; ++i) prepare(tasks_[i]);
      first_rounds(group);
      count_pending();
      if (all.size() == 1 || context_.budget.is_over()) continue;
      refine(*this);
      if (!is_alive()) return;
      worker_->resume();
      settle_group(group, true);
      count_pending();
    }
    worker_->stop();
  });
  count_pending();
}

void CoupleRun::instruments() {
  const Reply floors = ask({{"do", "floors"}}, Doing::floors);
  if (!floors.ok || !floors.body.is_object()) throw Garbage("no floors");
  for (const auto& [name, value] : floors.body.items()) {
    if (value.is_number() && value.get<double>() >= 0) {
      record_.floors_ns[name] = value.get<double>();
    }
  }
  // Tens of milliseconds, and the machine's rather than the worker's: once an environment is
  // enough.
  if (context_.copies_measured.insert(couple_.environment).second) {
    const Reply copies = ask({{"do", "copy_floors"}}, Doing::floors);
    for (const char* floor : {"warm", "fresh"}) {
      const double rate = copies.ok ? copies.body.value(floor, 0.0) : 0;
      if (rate > 0) record_.copy_floors_gb_per_s[floor] = rate;
    }
  }
  for (const Task& task : tasks_) {
    for (const std::string& device : {source_of(task.exchange), target_of(task.exchange)}) {
      // Each once an environment, by a worker that has to do with it.
      if (task.over || device == "cpu") continue;
      if (!context_.copies_measured.insert(couple_.environment + " " + device).second) continue;
      const Reply copies = ask({{"do", "copy_floors"}, {"device", device}}, Doing::device_floors);
      if (!copies.ok || !copies.body.is_object()) continue;
      for (const auto& [floor, rate] : copies.body.items()) {
        if (rate.is_number() && rate.get<double>() > 0) {
          record_.copy_floors_gb_per_s[floor] = rate.get<double>();
        }
      }
    }
  }
  const bool has_native = std::count_if(loads_.begin(), loads_.end(), [](const Load& load) {
                            return load.library == "native";
                          }) == 2;
  if (job_.anchor && has_native) {
    Task anchor = anchor_task(couple_.environment);
    const Reply prepared = ask(prepare_request(anchor), Doing::anchor);
    if (prepared.ok) {
      read_prepared(prepared.body, record_.floors_ns, anchor);
      Samples& samples = anchor.clocks[0];
      for (std::size_t i = 0; i < kCoarseRounds; ++i) {
        const Reply answer = ask(round_request(anchor, samples), Doing::anchor);
        if (answer.ok) add_round(read_round(answer.body), samples);
      }
      if (!samples.ns.empty()) record_.anchor_ns = stats::median(samples.ns);
      ask(drop_request(anchor), Doing::anchor);
    }
  }
  context_.journal.append(record_);
}

void CoupleRun::prepare(Task& task) {
  if (task.over || context_.budget.is_over()) return;
  if (const auto trouble = trouble_of(task.exchange)) {
    fail(task, *trouble);
    return;
  }
  const Reply reply = ask(prepare_request(task), Doing::exchange, &task);
  if (!reply.ok) {
    fail(task, read_error(reply.body, Outcome::refused));
    return;
  }
  read_prepared(reply.body, record_.floors_ns, task);
  drop_clocks(task);
  job_.answered.insert(task.exchange);
  if (context_.plan.ladder) climb(task);
  if (!task.over && !task.phases.is_over()) split(task);
}

/// Settles the cells of clocks that tell nothing of this exchange.
void CoupleRun::drop_clocks(Task& task) {
  for (const Samples& samples : task.clocks) {
    if (samples.without.empty()) continue;
    Trouble trouble;
    trouble.outcome = Outcome::unsupported;
    trouble.reason = samples.without;
    context_.ledger.failed(samples.cell, trouble);
  }
  std::erase_if(task.clocks, [](const Samples& samples) { return !samples.without.empty(); });
}

void CoupleRun::first_rounds(Group group) {
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

void CoupleRun::deal(const std::vector<Pick>& picks) {
  guarded([&] {
    worker_->resume();
    rounds(picks);
    worker_->stop();
  });
}

void CoupleRun::rounds(const std::vector<Pick>& picks) {
  std::span<const Pick> left(picks);
  while (!left.empty() && !context_.budget.is_over()) left = left.subspan(burst(left));
}

/// Asks for some rounds at once and sleeps while they run: waking up for each answer would cost a
/// tenth of a short round, and would take the processor from the next one. Returns how many of
/// `picks` it took.
std::size_t CoupleRun::burst(std::span<const Pick> picks) {
  std::vector<Pick> asked;
  double expected_ns = 0;
  std::size_t taken = 0;
  for (; taken < picks.size() && expected_ns < kBurstNs; ++taken) {
    if (!is_due(picks[taken])) continue;
    const double each = duration_ns(picks[taken]);
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
    if (task_->over) continue;
    if (pick.is_phases()) {
      if (reply.ok) {
        add_phases(read_phases(reply.body, task_->phases), task_->phases);
      } else {
        fail_phases(*task_, read_error(reply.body, Outcome::refused));
      }
    } else if (reply.ok) {
      add_round(read_round(reply.body), task_->clocks[pick.clock]);
    } else {
      fail(*task_, read_error(reply.body, Outcome::refused));
      failed.push_back(task_);
    }
  }
  for (const Task* task : failed) ask(drop_request(*task), Doing::drop);
  return taken;
}

void CoupleRun::begin(const Pick& pick) {
  doing_ = pick.is_phases() ? Doing::phases : Doing::exchange;
  task_ = &tasks_[pick.task];
}

bool CoupleRun::is_due(const Pick& pick) const {
  const Task& task = tasks_[pick.task];
  if (task.over) return false;
  if (pick.is_phases()) return !task.phases.is_over() && !has_had_its_time(task.phases);
  return !has_had_its_time(task.clocks[pick.clock]);
}

double CoupleRun::duration_ns(const Pick& pick) const {
  const Task& task = tasks_[pick.task];
  return pick.is_phases() ? fleet::duration_ns(task.phases)
                          : fleet::duration_ns(task.clocks[pick.clock]);
}

nlohmann::json CoupleRun::request_of(const Pick& pick) {
  const Task& task = tasks_[pick.task];
  return pick.is_phases() ? phases_request(task, context_.random() & 0xffffffffU)
                          : round_request(task, task.clocks[pick.clock]);
}

void CoupleRun::add_round(const RoundTime& time, Samples& samples) {
  const double spent_ns = time.ns * static_cast<double>(samples.iterations);
  samples.ns.push_back(time.ns);
  samples.cpu_ns.push_back(time.cpu_ns);
  samples.canary_ns.push_back(time.canary_ns);
  samples.moved += time.moved ? 1 : 0;
  samples.preempted += time.preempted ? 1 : 0;
  if (time.canary_ns > 0) best_canary_ns_ = std::min(best_canary_ns_, time.canary_ns);
  samples.spent_ns += spent_ns;
  context_.round_s += spent_ns * 1e-9;
}

void CoupleRun::settle() {
  guarded([&] {
    worker_->resume();
    settle_group({0, tasks_.size()}, false);
  });
  count_pending();
}

void CoupleRun::settle_group(Group group, bool more_follow) {
  for (std::size_t i = group.first; i < group.second; ++i) {
    Task& task = tasks_[i];
    if (task.over || !task.prepared) continue;
    const Reply reply = ask(judge_request(task), Doing::exchange, &task);
    if (reply.ok) {
      read_judged(reply.body, task);
      share(task);
    } else {
      fail(task, read_error(reply.body, Outcome::wrong));
    }
    if (more_follow) ask(drop_request(task), Doing::drop);
  }
}

void CoupleRun::share(Task& task) {
  const Samples* data = data_clock(task);
  if (!job_.warning.empty()) task.verdict.warnings.push_back(job_.warning);
  bool all = true;
  for (const Samples& samples : task.clocks) {
    if (!is_enough(samples)) {
      all = false;
      continue;
    }
    Share share;
    share.numbers.median_ns = stats::median(samples.ns);
    share.numbers.first_ns = samples.first_ns;
    share.numbers.samples_ns = samples.ns;
    share.iterations = samples.iterations;
    share.cpu_ns = stats::median(samples.cpu_ns);
    share.floor_ns = task.floor_ns;
    share.disturbed = {samples.moved, samples.preempted, slow_rounds(samples, best_canary_ns_)};
    share.data_ns = data != nullptr ? stats::median(data->ns) : 0;
    if (samples.clock == "call" && task.phases.is_enough()) share.phases = task.phases;
    context_.ledger.measured(samples.cell, task.verdict, std::move(share));
  }
  task.over = share_phases(task) && all;
}

void CoupleRun::harvest() {
  for (Task& task : tasks_) {
    if (!task.over && task.prepared) share(task);
  }
  for (Task& task : tasks_) task.over = true;
  count_pending();
}

void CoupleRun::count_pending() {
  std::ptrdiff_t pending = 0;
  for (const Task& task : tasks_) {
    if (task.over) continue;
    pending += std::count_if(task.clocks.begin(), task.clocks.end(),
                             [](const Samples& samples) { return is_enough(samples); });
    if (task.phases.is_enough() && !task.phases.is_over()) {
      pending += static_cast<std::ptrdiff_t>(task.phases.cells.size());
    }
  }
  context_.progress.pending(pending - std::exchange(pending_, pending));
}

}  // namespace dlbench::fleet
