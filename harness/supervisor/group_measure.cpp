#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/codes.hpp"
#include "model/places.hpp"
#include "model/units.hpp"
#include "supervisor/group_run.hpp"
#include "supervisor/rounds/numbers.hpp"
#include "supervisor/wire.hpp"

namespace dlbench::supervisor {
namespace {

// The limits of a batch. Each exchange may keep a pool of arrays, so it counts eight times its
// bytes. A batch is recorded as a whole, so a death costs one batch.
constexpr std::uint64_t kBatchBytes = std::uint64_t{512} << 20;
constexpr std::uint64_t kPool = 8;
constexpr std::size_t kBatchExchanges = 48;

// After preparing for this long, measure the first rounds of the prepared exchanges, so that they
// have a result if a budget or a signal ends the run.
constexpr double kMostPreparing_s = 0.25;

/// Takes the next exchanges that are not over from those that are left, within the limits of a
/// batch.
std::span<Task> take_batch(std::span<Task>& left) {
  while (!left.empty() && left.front().over) left = left.subspan(1);
  std::uint64_t bytes = 0;
  std::size_t exchanges = 0, size = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (left[i].over) continue;
    bytes += left[i].exchange.bytes * kPool;
    if (exchanges > 0 && (bytes > kBatchBytes || exchanges == kBatchExchanges)) break;
    ++exchanges;
    size = i + 1;
  }
  const std::span<Task> batch = left.first(size);
  left = left.subspan(size);
  return batch;
}

std::size_t count_shares(std::span<const Task> batch) {
  std::size_t shares = 0;
  for (const Task& task : batch) {
    if (!task.over) shares += task.clocks.size() + task.phases.cells.size();
  }
  return shares;
}

}  // namespace

void GroupRun::measure() {
  context_.progress.activity("measuring " + title());
  drop_unneeded_tasks();
  fail_known_steps();
  if (!is_needed()) return;
  run_guarded([&] {
    worker()->resume();
    instruments_.measure_floors(record_);
    if (job_.reference && loads_.has_reference()) {
      instruments_.measure_reference(record_);
    }
    context_.journal.append(record_);
    std::set<std::string> devices;
    for (const Task& task : tasks_) {
      if (!task.over) devices.insert({source_of(task.exchange), target_of(task.exchange)});
    }
    devices.erase("cpu");
    measure_batches();
    // After the rounds, because large copies may take seconds, and may end the worker.
    results::WorkerRecord floors;
    floors.environment = record_.environment;
    floors.python = record_.python;
    floors.gil = record_.gil;
    instruments_.measure_device_floors(devices, floors);
    if (!floors.copy_floors_bytes.empty() || !floors.context_flags.empty()) {
      context_.journal.append(floors);
    }
    worker()->stop();
  });
}

void GroupRun::measure_batches() {
  const Budget::Span counted(context_.budget);
  bool is_reported = !job_.reports_memory;
  std::span<Task> left(tasks_);
  while (!context_.budget.is_over()) {
    const std::span<Task> batch = take_batch(left);
    if (batch.empty()) break;
    const double begin = now_s();
    const std::size_t shares = count_shares(batch);
    prepare_and_measure(batch);
    if (!std::exchange(is_reported, true)) {
      instruments_.report_device_memory(devices_, job_.warnings);
    }
    const double refining = now_s();
    context_.pace.measuring_s += refining - begin;
    context_.pace.shares += shares;
    if (!is_coarse()) rounds_.refine(batch, refinement_seconds(shares));
    const double recording = now_s();
    record(batch);
    context_.pace.measuring_s += now_s() - recording;
  }
}

/// The first of many workers measures only the first rounds of each cell, so that the whole matrix
/// appears early. The interval depends on the spread between processes, not on the rounds of one.
bool GroupRun::is_coarse() const {
  const Options& options = context_.options;
  return job_.replica == 0 && options.replicas >= kManyReplicas && !has_all_rounds(options) &&
         !context_.budget.is_set();
}

/// The seconds that remain after everything is measured once, divided evenly over the cells.
double GroupRun::refinement_seconds(std::size_t shares) const {
  if (!context_.budget.is_set()) return std::numeric_limits<double>::infinity();
  const std::size_t missing = std::max<std::size_t>(context_.ledger.missing(), 1);
  const double spare =
      context_.budget.left() - context_.pace.ahead_s(missing - std::min(missing, shares));
  return std::max(0.0, spare * static_cast<double>(shares) / static_cast<double>(missing));
}

void GroupRun::prepare_and_measure(std::span<Task> batch) {
  std::size_t measured = 0;
  double begin = now_s();
  for (std::size_t i = 0; i < batch.size(); ++i) {
    prepare(batch[i]);
    const bool is_last = i + 1 == batch.size();
    if (!is_last && now_s() - begin <= kMostPreparing_s) continue;
    rounds_.measure_first(batch.subspan(measured, i + 1 - measured));
    count_pending();
    measured = i + 1;
    begin = now_s();
  }
}

/// Do the next two smaller sizes predict a time-out? An exchange that handles each element
/// separately takes a second for 256 KiB and exceeds the time-out for 4 MiB. One size is not
/// enough, because a first call has one-time costs. The failure has a reason if both sizes failed:
/// then a time-out would cost its whole deadline and show nothing new.
std::optional<Failure> GroupRun::predicted_time_out(const Task& task) const {
  std::array<const Task*, 2> smaller{};  // the smallest sizes come first
  for (const Task& other : tasks_) {
    Exchange same = other.exchange;
    same.bytes = task.exchange.bytes;
    if (same != task.exchange || other.exchange.bytes >= task.exchange.bytes) continue;
    if (other.prepare_s > 0) smaller = {smaller[1], &other};
  }
  const auto [first, second] = smaller;
  if (first == nullptr) return std::nullopt;
  const auto bytes_from = [](const Task& from, const Task& to) {
    return static_cast<double>(to.exchange.bytes) - static_cast<double>(from.exchange.bytes);
  };
  const double each = (second->prepare_s - first->prepare_s) / bytes_from(*first, *second);
  const double predicted_s = second->prepare_s + each * bytes_from(*second, task);
  if (predicted_s <= context_.options.timeout_s) return std::nullopt;
  Failure failure{Outcome::not_run, "", "", std::string(codes::kWouldTimeOut)};
  if (!first->failed || !second->failed) return failure;
  const auto after = [](const Task& other) {
    return std::to_string(other.exchange.bytes) + " bytes after " +
           format_duration(other.prepare_s * 1e9);
  };
  failure.reason = "not tried, because the exchange failed with " + after(*first) + " and with " +
                   after(*second) + ", so it would take " + format_duration(predicted_s * 1e9) +
                   ", above --timeout";
  return failure;
}

void GroupRun::prepare(Task& task) {
  if (task.over || context_.budget.is_over()) return;
  if (const auto failure = failure_of(task.exchange)) {
    recorder_.fail(task, *failure);
    return;
  }
  if (const auto failure = predicted_time_out(task); failure && !failure->reason.empty()) {
    recorder_.fail(task, *failure);
    return;
  } else if (failure && is_shared()) {  // a time-out would end the worker of the other pairs
    leave_to_own_worker(task);
    return;
  }
  const double begin = now_s();
  const Reply reply = worker_.request(prepare_request(task), Activity::exchange, &task);
  task.prepare_s = now_s() - begin;
  if (!reply.ok) {
    task.failed = true;
    fail(task, read_error(reply.body, Outcome::refused));
    return;
  }
  read_prepared(reply.body, record_.floors_ns, task);
  if (task.exchange.case_name == plan::kBaseline) {
    context_.baselines.insert_or_assign(task.exchange, task.verdict);
  }
  recorder_.drop_clocks(task);
  job_.answered.insert(task.exchange);
  if (context_.plan.case_sweep) skip_if_like_baseline(task);
  if (!task.over && !task.phases.is_over()) split(task);
}

void GroupRun::split(Task& task) {
  const Reply reply = worker_.request(split_request(task), Activity::phases, &task);
  if (!reply.ok) {
    recorder_.fail_phases(task, read_error(reply.body, Outcome::unsupported));
    return;
  }
  read_split(reply.body, task.phases);
}

void GroupRun::record(std::span<Task> batch) {
  count_pending();
  for (Task& task : batch) {
    if (!task.prepared) continue;
    if (!task.over) {
      const Reply reply = worker_.request(judge_request(task), Activity::exchange, &task);
      if (reply.ok) {
        read_judged(reply.body, task);
        add_worker_warnings(task);
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
    worker_.drop(task);
  }
}

bool GroupRun::is_begun(const Task& task) const {
  const auto begun = [this](const auto& one) { return context_.ledger.is_begun(one.cell); };
  return std::any_of(task.clocks.begin(), task.clocks.end(), begun) ||
         std::any_of(task.phases.cells.begin(), task.phases.cells.end(), begun);
}

/// Skips the timing of a case that twice has the outcome of the plain array. If an earlier worker
/// timed the case, it is timed again, so that a disagreement is recorded.
void GroupRun::skip_if_like_baseline(Task& task) {
  if (task.exchange.case_name == plan::kBaseline) return;
  const Entry* baseline = baseline_of(task.exchange, context_.baselines);
  if (baseline == nullptr || !has_same_outcome(task.exchange, task.verdict, *baseline)) return;
  if (is_begun(task)) return;
  const Reply reply = worker_.request(judge_request(task), Activity::exchange, &task);
  if (!reply.ok) {
    fail(task, read_error(reply.body, Outcome::wrong));
  } else {
    read_judged(reply.body, task);
    if (!has_same_outcome(task.exchange, task.verdict, *baseline)) return;
    recorder_.pass_over(task);
  }
  worker_.drop(task);
}

void GroupRun::add_worker_warnings(Task& task) const {
  const Exchange& exchange = task.exchange;
  for (const std::string& library : {exchange.producer, exchange.consumer}) {
    if (const auto failure = context_.known.isolated_by(exchange.environment, library)) {
      warn(task.verdict.warnings, "isolated-library",
           "each pair of " + library + " was measured in its own worker: " + failure->reason,
           {{"library", library}});
    }
  }
  const auto failed = context_.failed_beside_others.find(exchange);
  if (failed != context_.failed_beside_others.end()) {
    warn(task.verdict.warnings, "failed-beside-others",
         "failed in a worker with other libraries, works in a worker of its pair: " +
             failed->second.reason,
         data_of("signal", failed->second.signal));
  }
  const auto order =
      context_.known.order_between(exchange.environment, exchange.producer, exchange.consumer);
  if (!order) return;
  warn(task.verdict.warnings, "import-order",
       order->library + " cannot be imported after " + order->before + ": " + order->failure.reason,
       {{"library", order->library},
        {"first", order->before},
        {"outcome", std::string(to_string(order->failure.outcome))}});
}

void GroupRun::count_pending() {
  const std::ptrdiff_t pending = pending_cells(tasks_);
  context_.progress.pending(pending - std::exchange(pending_, pending));
}

}  // namespace dlbench::supervisor
