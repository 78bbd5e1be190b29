#include "fleet/schedule.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "fleet/memory.hpp"
#include "fleet/refine.hpp"
#include "fleet/signals.hpp"

namespace dlbench::fleet {
namespace {

/// More than any machine's memory lets live at the same time; a run has any number of batches.
constexpr std::size_t kMostAtOnce = 4096;

/// The same two libraries of all environments one after another: whoever compares environments
/// wants them measured in the same minute. Else as planned.
std::vector<std::size_t> in_turns(const std::vector<plan::Pair>& pairs) {
  std::map<std::pair<std::string, std::string>, std::size_t> first;
  std::vector<std::pair<std::size_t, std::size_t>> ranked;
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
    const auto place = first.try_emplace({pairs[pair].first, pairs[pair].second}, pair);
    ranked.emplace_back(place.first->second, pair);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::size_t> order;
  for (const auto& [rank, pair] : ranked) order.push_back(pair);
  return order;
}

}  // namespace

Schedule::Schedule(Context& context) : context_(context) {
  const std::vector<std::size_t> order = in_turns(context.plan.pairs);
  for (int replica = 0; replica < context.options.replicas; ++replica) {
    for (const std::size_t pair : order) {
      Job job;
      job.pair = pair;
      job.replica = replica;
      queue_.push_back(job);
    }
  }
}

void Schedule::run() {
  // A budget may end during the imports: the first pair is measured before others are imported.
  std::size_t size =
      context_.budget.is_set() ? 1 : 2 * static_cast<std::size_t>(context_.options.jobs);
  while (!queue_.empty() && !context_.budget.is_over()) {
    // A pair's second worker must not start before the first has recorded.
    if (!parked_.empty() && parked_.back()->job().replica != queue_.front().replica) {
      finish_parked();
      continue;
    }
    const double begin = now_s();
    import_batch(size);
    context_.importing_s += now_s() - begin;
    coarse_ += batch_.size();
    measure_batch();
    for_coarse_ += now_s() - begin;
    size = std::min(2 * size, kMostAtOnce);
    const bool is_full = std::exchange(is_device_full_, false) || is_memory_short();
    if (queue_.empty() || is_full) finish_parked();
  }
  finish_parked();
}

void Schedule::import_batch(std::size_t size) {
  const auto jobs = static_cast<std::size_t>(context_.options.jobs);
  const int replica = queue_.front().replica;
  bool full = false;
  while (true) {
    full = full || context_.budget.is_over() || batch_.size() + importing_.size() >= size;
    while (!full && importing_.size() < jobs) {
      const bool have_one = !batch_.empty() || !importing_.empty();
      if (have_one && (is_memory_short() || batch_.size() + importing_.size() >= size)) {
        full = true;
        break;
      }
      std::unique_ptr<PairRun> next = next_needed(replica);
      if (next && have_one && !fits_beside_batch(*next)) {
        queue_.push_front(next->job());
        next.reset();
      }
      if (!next) {
        full = true;
        break;
      }
      next->start();
      importing_.push_back(std::move(next));
    }
    if (importing_.empty()) return;
    wait_for_imports(importing_);
    if (context_.budget.is_over()) {
      retire(importing_);
      return;
    }
    for (auto& pair : importing_) {
      if (pair->is_importing()) pair->advance();
      if (pair->is_alive() && !pair->is_importing()) batch_.push_back(std::move(pair));
    }
    std::erase(importing_, nullptr);
    const std::size_t before = importing_.size();
    requeue_dead(importing_);
    // The dead one's successor belongs to this batch.
    if (importing_.size() < before) full = false;
  }
}

std::unique_ptr<PairRun> Schedule::next_needed(int replica) {
  while (!queue_.empty() && queue_.front().replica == replica) {
    auto pair = std::make_unique<PairRun>(context_, queue_.front());
    queue_.pop_front();
    if (pair->is_needed()) return pair;
  }
  return nullptr;
}

void Schedule::wait_for_imports(const Pairs& importing) {
  throw_if_stopped();
  std::vector<Worker*> workers;
  std::string titles;
  for (const auto& pair : importing) {
    titles += (titles.empty() ? "importing " : "; ") + pair->title();
    if (pair->is_alive()) workers.push_back(pair->worker());
  }
  context_.progress.activity(titles);
  if (workers.size() < importing.size()) return;
  wait(workers, context_.budget.is_set() ? std::max(0.0, context_.budget.left()) : 1.0);
}

void Schedule::retire(Pairs& pairs) {
  std::vector<std::unique_ptr<Worker>> workers;
  for (auto& pair : pairs) workers.push_back(pair->release());
  pairs.clear();
  context_.workers.dismiss(std::move(workers));
}

void Schedule::requeue_dead(Pairs& pairs) {
  for (auto& pair : pairs) {
    if (pair->is_alive()) continue;
    queue_.push_front(pair->job());
    pair.reset();
  }
  std::erase(pairs, nullptr);
}

void Schedule::measure_batch() {
  std::shuffle(batch_.begin(), batch_.end(), context_.random);
  const auto refine_alone = [this](PairRun& pair) {
    PairRun* const one = &pair;
    refine({&one, 1}, context_, refinement_seconds());
  };
  for (auto& pair : batch_) {
    if (context_.budget.is_over()) break;
    pair->visit(refine_alone);
    if (!pair->is_alive()) continue;
    const bool is_device_full = is_device_short(*pair);
    is_device_full_ = is_device_full_ || is_device_full;
    if (pair->is_needed() && (is_device_full || is_memory_short())) {
      refine_alone(*pair);
      if (pair->is_alive()) pair->record();
    }
    if (pair->is_alive() && !pair->is_needed()) context_.workers.dismiss(pair->release());
  }
  requeue_dead(batch_);
  std::move(batch_.begin(), batch_.end(), std::back_inserter(parked_));
  batch_.clear();
}

void Schedule::finish_parked() {
  std::vector<PairRun*> pairs;
  for (const auto& pair : parked_) pairs.push_back(pair.get());
  refine(pairs, context_, refinement_seconds());
  context_.progress.activity("recording");
  for (PairRun* pair : pairs) {
    if (pair->is_alive()) pair->record();
  }
  requeue_dead(parked_);
  retire(parked_);
}

bool Schedule::is_memory_short() const {
  return memory().is_below(context_.options.free_memory);
}

bool Schedule::is_device_short(const PairRun& pair) const {
  return std::any_of(pair.devices().begin(), pair.devices().end(), [&](const std::string& device) {
    return !context_.device_memory.has_room(device, 1);
  });
}

/// Some libraries make their context when they are imported, so those of the batch count already.
bool Schedule::fits_beside_batch(const PairRun& next) const {
  return std::all_of(next.devices().begin(), next.devices().end(), [&](const std::string& device) {
    std::size_t more = 1;
    for (const Pairs* pairs : {&batch_, &importing_}) {
      more += static_cast<std::size_t>(std::count_if(
          pairs->begin(), pairs->end(),
          [&](const auto& pair) { return pair && pair->devices().contains(device); }));
    }
    return context_.device_memory.has_room(device, more);
  });
}

double Schedule::refinement_seconds() const {
  if (!context_.budget.is_set()) return std::numeric_limits<double>::infinity();
  // What the pairs still in the queue will need for their first rounds is theirs.
  const double each = coarse_ == 0 ? 0 : for_coarse_ / static_cast<double>(coarse_);
  const double reserved = each * static_cast<double>(queue_.size());
  return std::max(0.0, context_.budget.left() - reserved);
}

void Schedule::abandon() {
  for (Pairs* pairs : {&importing_, &batch_, &parked_}) {
    for (auto& pair : *pairs) {
      if (!pair) continue;
      pair->release().reset();
      pair->harvest();
    }
    pairs->clear();
  }
}

}  // namespace dlbench::fleet
