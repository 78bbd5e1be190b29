#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "fleet/group_run.hpp"
#include "fleet/numbers.hpp"
#include "fleet/pace.hpp"
#include "fleet/signals.hpp"
#include "stats/stopping.hpp"

namespace dlbench::fleet {
namespace {

// What a worker holds at once. Each exchange may keep a pool of arrays, so eight times its bytes.
// What is measured together is recorded together, and a death costs one batch.
constexpr std::uint64_t kBatchBytes = std::uint64_t{512} << 20;
constexpr std::uint64_t kPool = 8;
constexpr std::size_t kBatchExchanges = 48;

// Exchanges that were prepared for so long get their first rounds before the next are prepared: a
// budget or a signal that ends the run during the preparation keeps what was prepared.
constexpr double kMostPreparing_s = 0.25;

constexpr double kMostNs = 0.15e9;
// Those of phases are three times as long, and may cost the producer's type two version tags each.
constexpr std::size_t kMostPhasesRounds = 12;

/// More rounds would not help.
bool is_surely_below(const Samples& samples) {
  const std::optional<Bound> bound = below_resolution(samples);
  return bound && bound->is_final;
}

/// A cell that is to be refined, with how far it is from being good enough.
struct Wish {
  Pick pick;
  double width = 0;        ///< half the interval over the median
  std::size_t rounds = 0;  ///< to be had in one pass
};

std::optional<Wish> wish_of(std::span<const Task> tasks, const Pick& pick, const Samples& samples,
                            const Options& options, const stats::Stopping& stopping) {
  if (!is_enough(samples) || stats::is_precise(samples.ns, stopping)) return std::nullopt;
  // A request that no burst serves would be repeated for ever.
  if (is_surely_below(samples) || !is_due(tasks, pick)) return std::nullopt;
  // Rounds that were left out took their time too.
  const std::size_t made = samples.ns.size() + samples.behind;
  if (made >= stopping.most) return std::nullopt;
  const double each = samples.spent_ns / static_cast<double>(made);
  std::size_t rounds = std::min(stopping.pass, stopping.most - made);
  if (options.budget_s <= 0) {
    const double afford = (kMostNs - samples.spent_ns) / std::max(each, 1.0);
    if (afford < 1) return std::nullopt;
    rounds = std::min(rounds, static_cast<std::size_t>(afford));
  }
  return Wish{pick, stats::relative_half_width(samples.ns), rounds};
}

std::optional<Wish> wish_of(const Pick& pick, const PhaseRounds& phases, const Options& options,
                            const stats::Stopping& stopping) {
  if (phases.is_over() || !phases.is_enough() || phases.rounds.size() >= kMostPhasesRounds) {
    return std::nullopt;
  }
  if (options.budget_s <= 0 && phases.spent_ns >= 3 * kMostNs) return std::nullopt;
  const double width = phases.relative_half_width();
  if (width <= stopping.precision) return std::nullopt;
  return Wish{pick, width, std::min(stopping.pass, kMostPhasesRounds - phases.rounds.size())};
}

/// What all replicas' rounds together are to reach is more than one of them has to.
stats::Stopping stopping_of(const Options& options) {
  stats::Stopping stopping;
  stopping.precision = options.precision * std::sqrt(static_cast<double>(options.replicas));
  if (options.replicas > 1) stopping.most = std::max(stopping.first, stopping.most / 2);
  return stopping;
}

}  // namespace

void GroupRun::measure() {
  context_.progress.activity("measuring " + title());
  drop_what_is_not_wanted();
  fail_known_troubles();
  if (!is_needed()) return;
  guarded([&] {
    worker_->resume();
    instruments();
    bool is_reported = !job_.reports_memory;
    for (Batch batch = next_batch(0); batch.first < batch.second;
         batch = next_batch(batch.second)) {
      if (context_.budget.is_over()) break;
      const double begin = now_s();
      const std::size_t shares = count_shares(batch);
      prepare_and_measure(batch);
      if (!std::exchange(is_reported, true)) report_device_memory();
      const double refining = now_s();
      context_.pace.measuring_s += refining - begin;
      context_.pace.shares += shares;
      if (!is_coarse()) refine(batch, refinement_seconds(shares));
      const double recording = now_s();
      record(batch);
      context_.pace.measuring_s += now_s() - recording;
    }
    worker_->stop();
  });
}

/// The next exchanges that are not over, as many as a worker holds at once.
GroupRun::Batch GroupRun::next_batch(std::size_t begin) const {
  while (begin < tasks_.size() && tasks_[begin].over) ++begin;
  Batch batch{begin, begin};
  std::uint64_t bytes = 0;
  std::size_t exchanges = 0;
  for (std::size_t i = begin; i < tasks_.size(); ++i) {
    if (tasks_[i].over) continue;
    bytes += tasks_[i].exchange.bytes * kPool;
    if (exchanges > 0 && (bytes > kBatchBytes || exchanges == kBatchExchanges)) break;
    ++exchanges;
    batch.second = i + 1;
  }
  return batch;
}

std::size_t GroupRun::count_shares(Batch batch) const {
  std::size_t shares = 0;
  for (std::size_t i = batch.first; i < batch.second; ++i) {
    if (!tasks_[i].over) shares += tasks_[i].clocks.size() + tasks_[i].phases.cells.size();
  }
  return shares;
}

/// The first of many workers gives each cell its coarse rounds only, so that the whole matrix
/// appears early. What processes differ by decides the interval, not the rounds of one of them.
bool GroupRun::is_coarse() const {
  const Options& options = context_.options;
  return job_.replica == 0 && options.replicas >= kManyReplicas && !context_.budget.is_set();
}

/// What a budget leaves beside all that is to be measured once at least, divided evenly.
double GroupRun::refinement_seconds(std::size_t shares) const {
  if (!context_.budget.is_set()) return std::numeric_limits<double>::infinity();
  const std::size_t missing = std::max<std::size_t>(context_.ledger.missing(), 1);
  const double spare =
      context_.budget.left() - context_.pace.ahead_s(missing - std::min(missing, shares));
  return std::max(0.0, spare * static_cast<double>(shares) / static_cast<double>(missing));
}

void GroupRun::refine(Batch batch, double seconds) {
  const double until = now_s() + seconds;
  const stats::Stopping stopping = stopping_of(context_.options);
  while (!context_.budget.is_over() && now_s() < until) {
    std::vector<Wish> wishes;
    for (std::size_t i = batch.first; i < batch.second; ++i) {
      const Task& task = tasks_[i];
      if (task.over || !task.prepared) continue;
      for (std::size_t clock = 0; clock < task.clocks.size(); ++clock) {
        const auto wish =
            wish_of(tasks_, {i, clock}, task.clocks[clock], context_.options, stopping);
        if (wish) wishes.push_back(*wish);
      }
      const auto wish = wish_of({i, Pick::kPhases}, task.phases, context_.options, stopping);
      if (wish) wishes.push_back(*wish);
    }
    if (wishes.empty()) return;
    std::stable_sort(wishes.begin(), wishes.end(),
                     [](const Wish& a, const Wish& b) { return a.width > b.width; });
    if (context_.budget.is_set()) wishes.resize((wishes.size() + 1) / 2);
    std::vector<Pick> picks;
    for (const Wish& wish : wishes) picks.insert(picks.end(), wish.rounds, wish.pick);
    std::shuffle(picks.begin(), picks.end(), context_.random);
    rounds(picks);
  }
}

void GroupRun::prepare_and_measure(Batch batch) {
  Batch slice{batch.first, batch.first};
  double begin = now_s();
  for (std::size_t i = batch.first; i < batch.second; ++i) {
    prepare(tasks_[i]);
    slice.second = i + 1;
    const bool is_last = slice.second == batch.second;
    if (!is_last && now_s() - begin <= kMostPreparing_s) continue;
    first_rounds(slice);
    count_pending();
    slice.first = slice.second;
    begin = now_s();
  }
}

void GroupRun::prepare(Task& task) {
  if (task.over || context_.budget.is_over()) return;
  if (const auto trouble = trouble_of(task.exchange)) {
    recorder_.fail(task, *trouble);
    return;
  }
  const Reply reply = ask(prepare_request(task), Activity::exchange, &task);
  if (!reply.ok) {
    fail(task, read_error(reply.body, Outcome::refused));
    return;
  }
  read_prepared(reply.body, record_.floors_ns, task);
  if (task.exchange.case_name == plan::kBaseline) {
    context_.baselines.insert_or_assign(task.exchange, task.verdict);
  }
  recorder_.drop_clocks(task);
  job_.answered.insert(task.exchange);
  if (context_.plan.case_sweep) climb(task);
  if (!task.over && !task.phases.is_over()) split(task);
}

/// Records the cells of clocks that do not apply to this exchange.
void GroupRun::split(Task& task) {
  const Reply reply = ask(split_request(task), Activity::phases, &task);
  if (!reply.ok) {
    recorder_.fail_phases(task, read_error(reply.body, Outcome::unsupported));
    return;
  }
  read_split(reply.body, task.phases);
}

void GroupRun::add_phases(const PhaseTime& time, PhaseRounds& phases) {
  const double spent_ns = 3 * time.exchange_ns * static_cast<double>(phases.iterations);
  phases.rounds.push_back(time);
  phases.spent_ns += spent_ns;
  context_.round_s += spent_ns * 1e-9;
}

void GroupRun::first_rounds(Batch batch) {
  std::vector<Pick> picks;
  for (std::size_t i = batch.first; i < batch.second; ++i) {
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

void GroupRun::rounds(const std::vector<Pick>& picks) {
  std::span<const Pick> left(picks);
  while (!left.empty() && !context_.budget.is_over()) left = left.subspan(burst(left));
}

/// Asks for some rounds at once and sleeps while they run: waking up for each answer would cost a
/// tenth of a short round, and would take the processor from the next one. Returns how many of
/// `picks` it took.
std::size_t GroupRun::burst(std::span<const Pick> picks) {
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
      fail(*current_work_.task, read_error(reply.body, Outcome::refused));
      failed.push_back(current_work_.task);
    }
  }
  for (Task* task : failed) ask(drop_request(*task), Activity::drop, task);
  return taken;
}

void GroupRun::begin(const Pick& pick) {
  current_work_ = {pick.is_phases() ? Activity::phases : Activity::exchange, &tasks_[pick.task]};
}

nlohmann::json GroupRun::request_of(const Pick& pick) {
  const Task& task = tasks_[pick.task];
  return pick.is_phases() ? phases_request(task, context_.random() & 0xffffffffU)
                          : round_request(task, task.clocks[pick.clock]);
}

void GroupRun::add_round(const RoundTime& time, Samples& samples) {
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

void GroupRun::record(Batch batch) {
  for (std::size_t i = batch.first; i < batch.second; ++i) {
    Task& task = tasks_[i];
    if (!task.prepared) continue;
    if (!task.over) {
      const Reply reply = ask(judge_request(task), Activity::exchange, &task);
      if (reply.ok) {
        read_judged(reply.body, task);
        warn_of_company(task);
        if (task.exchange.case_name == plan::kBaseline) {
          context_.baselines.insert_or_assign(task.exchange, task.verdict);
        }
        recorder_.share(task, job_.warnings);
      } else {
        fail(task, read_error(reply.body, Outcome::wrong));
      }
    }
    task.over = true;
    count_pending();
    ask(drop_request(task), Activity::drop, &task);
  }
}

void GroupRun::warn_of_company(Task& task) const {
  const Exchange& exchange = task.exchange;
  for (const std::string& library : {exchange.producer, exchange.consumer}) {
    if (const auto trouble = context_.known.isolated_by(exchange.environment, library)) {
      warn(task.verdict.warnings, "isolated-library",
           library + " was measured in workers of its own: " + trouble->reason,
           {{"library", library}});
    }
  }
  const auto failed = context_.failed_beside_others.find(exchange);
  if (failed != context_.failed_beside_others.end()) {
    warn(task.verdict.warnings, "failed-beside-others",
         "it failed in a worker with other libraries, and works in its own: " +
             failed->second.reason,
         data_of("signal", failed->second.signal));
  }
  const auto order =
      context_.known.order_between(exchange.environment, exchange.producer, exchange.consumer);
  if (!order) return;
  warn(task.verdict.warnings, "import-order",
       order->library + " cannot be imported after " + order->before + ": " + order->trouble.reason,
       {{"library", order->library},
        {"first", order->before},
        {"outcome", std::string(to_string(order->trouble.outcome))}});
}

void GroupRun::count_pending() {
  const std::ptrdiff_t pending = pending_cells(tasks_);
  context_.progress.pending(pending - std::exchange(pending_, pending));
}

}  // namespace dlbench::fleet
