#include "fleet/refine.hpp"

#include <algorithm>
#include <map>

#include "fleet/numbers.hpp"
#include "fleet/pace.hpp"

namespace dlbench::fleet {
namespace {

constexpr double kMostNs = 0.15e9;
// Those of phases are three times as long, and may cost the producer's type two version tags each.
constexpr std::size_t kMostPhasesRounds = 12;

/// A pass: each pair's picks, shuffled.
std::map<PairRun*, std::vector<Pick>> dealt(const std::vector<Wish>& wanted, Context& context) {
  std::map<PairRun*, std::vector<Pick>> hands;
  for (const Wish& wish : wanted) {
    std::vector<Pick>& hand = hands[wish.pair];
    hand.insert(hand.end(), wish.rounds, wish.pick);
  }
  for (auto& [pair, hand] : hands) std::shuffle(hand.begin(), hand.end(), context.random);
  return hands;
}

/// More rounds would not help.
bool is_surely_below(const Samples& samples) {
  const std::optional<Bound> bound = below_resolution(samples);
  return bound && bound->is_final;
}

}  // namespace

std::vector<Wish> wishes(PairRun& pair, const Options& options) {
  std::vector<Wish> wanted;
  stats::Stopping stopping;
  stopping.precision = options.precision;
  const std::vector<Task>& tasks = pair.tasks();
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].over || !tasks[i].prepared) continue;
    for (std::size_t clock = 0; clock < tasks[i].clocks.size(); ++clock) {
      const Samples& samples = tasks[i].clocks[clock];
      if (!is_enough(samples) || stats::is_precise(samples.ns, stopping)) continue;
      // A wish for what no burst asks for would be repeated for ever.
      if (is_surely_below(samples) || !is_due(tasks, {i, clock})) continue;
      // Rounds that were left out took their time too.
      const std::size_t made = samples.ns.size() + samples.behind;
      if (made >= stopping.most) continue;
      const double each = samples.spent_ns / static_cast<double>(made);
      std::size_t rounds = std::min(stopping.pass, stopping.most - made);
      if (options.budget_s <= 0) {
        const double afford = (kMostNs - samples.spent_ns) / std::max(each, 1.0);
        if (afford < 1) continue;
        rounds = std::min(rounds, static_cast<std::size_t>(afford));
      }
      wanted.push_back({&pair, {i, clock}, stats::relative_half_width(samples.ns), rounds});
    }
    const PhaseRounds& phases = tasks[i].phases;
    if (phases.is_over() || !phases.is_enough() || phases.rounds.size() >= kMostPhasesRounds) {
      continue;
    }
    if (options.budget_s <= 0 && phases.spent_ns >= 3 * kMostNs) continue;
    if (const double width = phases.relative_half_width(); width > options.precision) {
      const std::size_t rounds = std::min(stopping.pass, kMostPhasesRounds - phases.rounds.size());
      wanted.push_back({&pair, {i, Pick::kPhases}, width, rounds});
    }
  }
  return wanted;
}

void refine(std::span<PairRun* const> pairs, Context& context, double seconds) {
  const double until = now_s() + seconds;
  while (!context.budget.is_over() && now_s() < until) {
    std::vector<Wish> wanted;
    for (PairRun* pair : pairs) {
      if (!pair->is_alive()) continue;
      const std::vector<Wish> more = wishes(*pair, context.options);
      wanted.insert(wanted.end(), more.begin(), more.end());
    }
    if (wanted.empty()) return;
    context.progress.activity("refining " + std::to_string(wanted.size()) + " cells");
    std::stable_sort(wanted.begin(), wanted.end(),
                     [](const Wish& a, const Wish& b) { return a.width > b.width; });
    if (context.budget.is_set()) wanted.resize((wanted.size() + 1) / 2);
    const auto hands = dealt(wanted, context);
    std::vector<PairRun*> order;
    for (PairRun* pair : pairs) {
      if (hands.contains(pair)) order.push_back(pair);
    }
    std::shuffle(order.begin(), order.end(), context.random);
    for (PairRun* pair : order) {
      if (context.budget.is_over() || now_s() >= until) break;
      pair->deal(hands.at(pair));
    }
  }
}

}  // namespace dlbench::fleet
