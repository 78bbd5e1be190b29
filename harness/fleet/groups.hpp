#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fleet/death.hpp"
#include "fleet/fleet.hpp"
#include "plan/plan.hpp"

namespace dlbench::fleet {

/// Libraries that one worker imports, and the pairs that it measures.
struct Group {
  std::string environment;
  std::vector<std::string> libraries;  ///< in the order of import
  std::vector<std::size_t> pairs;      ///< indices into Plan::pairs
};

/// Which libraries can share a process, as far as the run has shown it, for each environment.
class Compatibility {
 public:
  /// `library` cannot be imported after `before`; the other order works. This and the next two
  /// return false where they are known already.
  bool require_order(const std::string& environment, const std::string& library,
                     const std::string& before, Trouble trouble);
  /// Neither order works: every cell of these two libraries has that trouble.
  bool keep_apart(const std::string& environment, const std::string& a, const std::string& b,
                  Trouble trouble);
  /// The library shares a worker with one other library only, because of that trouble.
  bool isolate(const std::string& environment, const std::string& library, Trouble trouble);
  std::optional<Trouble> isolated_by(const std::string& environment,
                                     const std::string& library) const;
  /// A pair that ended a worker gets workers of its own. False where it has them already.
  bool isolate(std::size_t pair);
  /// They can share a worker again.
  void share_again(const std::string& environment, const std::string& library);
  void share_again(std::size_t pair);

  bool is_isolated(const plan::Pair& pair, std::size_t index) const;
  /// Can these two be imported into one process, in some order?
  bool can_share(const std::string& environment, const std::string& a, const std::string& b) const;
  /// Of two libraries that are kept apart.
  std::optional<Trouble> trouble_between(const std::string& environment, const std::string& a,
                                         const std::string& b) const;
  /// The library that must be imported before the other one, with what happens otherwise.
  struct Order {
    std::string library, before;
    Trouble trouble;
  };
  std::optional<Order> order_between(const std::string& environment, const std::string& a,
                                     const std::string& b) const;

  /// An order that an earlier run found: it holds until this run finds the reverse one.
  void recall_order(const ImportOrder& order);
  /// Those that this run found.
  std::vector<ImportOrder> new_orders() const;

  /// The libraries in their order, but with those first that must be imported before others.
  std::vector<std::string> in_order(const std::string& environment,
                                    std::vector<std::string> libraries) const;

 private:
  using Two = std::tuple<std::string, std::string, std::string>;  ///< environment, a, b

  std::map<Two, Trouble> apart_;  ///< both ways
  struct Found {
    Trouble trouble;
    bool is_old = false;  ///< by an earlier run
  };
  std::map<Two, Found> orders_;  ///< {environment, library, before}
  std::map<std::pair<std::string, std::string>, Trouble> isolated_;
  std::set<std::size_t> pairs_;
};

/// How many libraries a worker holds at most, where nothing limits it.
inline constexpr std::size_t kAnyNumber = std::numeric_limits<std::size_t>::max();

/// Groups in which each of these pairs of one environment meets once, with few imports: one group
/// where all libraries can share a process, else a greedy cover. Pairs that are isolated get a
/// group each.
std::vector<Group> plan_groups(const plan::Plan& plan, std::span<const std::size_t> pairs,
                               const Compatibility& known, std::size_t most_libraries = kAnyNumber);

}  // namespace dlbench::fleet
