#include "supervisor/imports/groups.hpp"

#include <algorithm>

#include "model/contains.hpp"

namespace dlbench::supervisor {
namespace {

/// The libraries of these pairs of one environment, in the order in which the pairs name them;
/// those that must be imported first come before the others.
std::vector<std::string> libraries_of(const plan::Plan& plan, std::span<const std::size_t> pairs) {
  std::vector<std::string> libraries;
  for (const std::size_t pair : pairs) {
    for (const std::string& library : {plan.pairs[pair].first, plan.pairs[pair].second}) {
      add_new(libraries, library);
    }
  }
  std::stable_partition(libraries.begin(), libraries.end(), [&](const std::string& name) {
    const std::string& environment = plan.pairs[pairs.front()].environment;
    return std::any_of(plan.libraries.begin(), plan.libraries.end(), [&](const auto& library) {
      return library.imports_first && library.name == name && library.environment == environment;
    });
  });
  return libraries;
}

/// The number of `open` pairs that a group would gain with this library.
std::size_t gain_of(const plan::Plan& plan, std::span<const std::size_t> open,
                    const std::vector<std::string>& group, const std::string& library) {
  return static_cast<std::size_t>(std::count_if(open.begin(), open.end(), [&](std::size_t index) {
    const plan::Pair& pair = plan.pairs[index];
    const std::string& other = pair.first == library ? pair.second : pair.first;
    return (pair.first == library || pair.second == library) &&
           (other == library || contains(group, other));
  }));
}

/// The libraries of the next group. It begins with the first open pair and repeatedly adds the
/// library that completes most pairs.
std::vector<std::string> next_libraries(const plan::Plan& plan, std::span<const std::size_t> open,
                                        const std::vector<std::string>& all,
                                        const Compatibility& known, std::size_t most) {
  const plan::Pair& seed = plan.pairs[open.front()];
  std::vector<std::string> group{seed.first};
  if (seed.second != seed.first) group.push_back(seed.second);
  while (group.size() < most) {
    const std::string* best = nullptr;
    std::size_t best_gain = 0;
    for (const std::string& library : all) {
      if (contains(group, library)) continue;
      const bool fits = std::all_of(group.begin(), group.end(), [&](const std::string& member) {
        return known.can_share(seed.environment, member, library);
      });
      if (!fits) continue;
      const std::size_t gain = gain_of(plan, open, group, library);
      if (gain > best_gain) {
        best = &library;
        best_gain = gain;
      }
    }
    if (best == nullptr) break;
    group.push_back(*best);
  }
  return group;
}

}  // namespace

bool Compatibility::require_order(const std::string& environment, const std::string& library,
                                  const std::string& before, Failure failure) {
  // An order from an earlier run may no longer hold.
  const auto reverse = orders_.find({environment, before, library});
  if (reverse != orders_.end() && reverse->second.is_old) orders_.erase(reverse);
  return orders_.try_emplace({environment, library, before}, Found{std::move(failure), false})
      .second;
}

void Compatibility::recall_order(const ImportOrder& order) {
  Failure failure;
  failure.outcome = order.outcome;
  failure.reason = order.reason;
  orders_.try_emplace({order.environment, order.library, order.before},
                      Found{std::move(failure), true});
}

std::vector<ImportOrder> Compatibility::new_orders() const {
  std::vector<ImportOrder> orders;
  for (const auto& [libraries, found] : orders_) {
    const auto& [environment, library, before] = libraries;
    const Failure& failure = found.failure;
    if (found.is_old) continue;
    orders.push_back({environment, library, before, failure.outcome, failure.reason});
  }
  return orders;
}

bool Compatibility::keep_apart(const std::string& environment, const std::string& a,
                               const std::string& b, Failure failure) {
  apart_.try_emplace({environment, b, a}, failure);
  return apart_.try_emplace({environment, a, b}, std::move(failure)).second;
}

bool Compatibility::separate(const std::string& environment, const std::string& a,
                             const std::string& b) {
  separate_.insert({environment, b, a});
  return separate_.insert({environment, a, b}).second;
}

bool Compatibility::isolate(const std::string& environment, const std::string& library,
                            Failure failure) {
  return isolated_.try_emplace({environment, library}, std::move(failure)).second;
}

std::optional<Failure> Compatibility::isolated_by(const std::string& environment,
                                                  const std::string& library) const {
  const auto found = isolated_.find({environment, library});
  if (found == isolated_.end()) return std::nullopt;
  return found->second;
}

bool Compatibility::isolate(std::size_t pair) {
  return pairs_.insert(pair).second;
}

void Compatibility::share_again(const std::string& environment, const std::string& library) {
  isolated_.erase({environment, library});
}

void Compatibility::share_again(std::size_t pair) {
  pairs_.erase(pair);
}

bool Compatibility::is_isolated(const plan::Pair& pair, std::size_t index) const {
  return pairs_.contains(index) || isolated_.contains({pair.environment, pair.first}) ||
         isolated_.contains({pair.environment, pair.second});
}

bool Compatibility::can_share(const std::string& environment, const std::string& a,
                              const std::string& b) const {
  return !apart_.contains({environment, a, b}) && !separate_.contains({environment, a, b}) &&
         !isolated_.contains({environment, a}) && !isolated_.contains({environment, b});
}

std::optional<Failure> Compatibility::failure_between(const std::string& environment,
                                                      const std::string& a,
                                                      const std::string& b) const {
  const auto found = apart_.find({environment, a, b});
  if (found == apart_.end()) return std::nullopt;
  return found->second;
}

std::optional<Compatibility::Order> Compatibility::order_between(const std::string& environment,
                                                                 const std::string& a,
                                                                 const std::string& b) const {
  for (const auto& [library, before] : {std::pair(a, b), std::pair(b, a)}) {
    const auto found = orders_.find({environment, library, before});
    if (found != orders_.end()) return Order{library, before, found->second.failure};
  }
  return std::nullopt;
}

std::vector<std::string> Compatibility::in_order(const std::string& environment,
                                                 std::vector<std::string> libraries) const {
  std::vector<std::string> ordered;
  while (!libraries.empty()) {
    const auto is_free = [&](const std::string& library) {
      return std::none_of(libraries.begin(), libraries.end(), [&](const std::string& other) {
        return orders_.contains({environment, other, library});
      });
    };
    auto next = std::find_if(libraries.begin(), libraries.end(), is_free);
    // The orders contradict each other; the import will show it.
    if (next == libraries.end()) next = libraries.begin();
    ordered.push_back(*next);
    libraries.erase(next);
  }
  return ordered;
}

std::vector<Group> plan_groups(const plan::Plan& plan, std::span<const std::size_t> pairs,
                               const Compatibility& known, std::size_t most_libraries) {
  std::vector<Group> groups;
  std::vector<std::size_t> open;
  const auto add = [&](const std::string& environment, std::vector<std::string> libraries,
                       std::vector<std::size_t> held) {
    groups.push_back(
        {environment, known.in_order(environment, std::move(libraries)), std::move(held)});
  };
  for (const std::size_t index : pairs) {
    const plan::Pair& pair = plan.pairs[index];
    const bool is_alone = known.is_isolated(pair, index) ||
                          !known.can_share(pair.environment, pair.first, pair.second);
    if (is_alone) {
      add(pair.environment, libraries_of(plan, {&index, 1}), {index});
    } else {
      open.push_back(index);
    }
  }
  const std::vector<std::string> all = libraries_of(plan, open);
  while (!open.empty()) {
    const std::string& environment = plan.pairs[open.front()].environment;
    const std::vector<std::string> libraries =
        next_libraries(plan, open, all, known, most_libraries);
    // In the order of the pairs, not in the order in which they were added.
    std::vector<std::string> named;
    std::copy_if(all.begin(), all.end(), std::back_inserter(named),
                 [&](const std::string& library) { return contains(libraries, library); });
    std::vector<std::size_t> held;
    std::erase_if(open, [&](std::size_t index) {
      const plan::Pair& pair = plan.pairs[index];
      if (!contains(named, pair.first) || !contains(named, pair.second)) return false;
      held.push_back(index);
      return true;
    });
    add(environment, std::move(named), std::move(held));
  }
  return groups;
}

}  // namespace dlbench::supervisor
