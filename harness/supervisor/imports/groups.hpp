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

#include "supervisor/plan/plan.hpp"
#include "supervisor/process/death.hpp"
#include "supervisor/supervisor.hpp"

namespace dlbench::supervisor {

/// The libraries that one worker imports and the pairs that it measures.
struct Group {
  std::string environment;
  std::vector<std::string> libraries;  ///< in the order of import
  std::vector<std::size_t> pairs;      ///< indices into Plan::pairs
};

/// Which libraries of an environment can share a process, as far as this run knows.
class Compatibility {
 public:
  /// Adds that `library` cannot be imported after `before`, but the other order works. This and the
  /// next two functions return false if nothing new was added.
  bool require_order(const std::string& environment, const std::string& library,
                     const std::string& before, Failure failure);
  /// Adds that neither order works: every cell of these two libraries fails with this step.
  bool keep_apart(const std::string& environment, const std::string& a, const std::string& b,
                  Failure failure);
  /// Lets the two libraries share a worker only for their own pair, whose cells are tried. Returns
  /// false if that is already so.
  bool separate(const std::string& environment, const std::string& a, const std::string& b);
  /// Lets the library share a worker with only one other library, because of this failed step.
  bool isolate(const std::string& environment, const std::string& library, Failure failure);
  std::optional<Failure> isolated_by(const std::string& environment,
                                     const std::string& library) const;
  /// Measures the pair in workers of its own, because it ended a worker. Returns false if that is
  /// already so.
  bool isolate(std::size_t pair);
  /// Lets the library or the pair share a worker again.
  void share_again(const std::string& environment, const std::string& library);
  void share_again(std::size_t pair);

  bool is_isolated(const plan::Pair& pair, std::size_t index) const;
  /// Can the two libraries be imported into one process in some order, and does neither keep the
  /// other's pairs from being measured there?
  bool can_share(const std::string& environment, const std::string& a, const std::string& b) const;
  /// The failed step of two libraries that are kept apart.
  std::optional<Failure> failure_between(const std::string& environment, const std::string& a,
                                         const std::string& b) const;
  /// `library` cannot be imported after `before`; `failure` is what happens otherwise.
  struct Order {
    std::string library, before;
    Failure failure;
  };
  std::optional<Order> order_between(const std::string& environment, const std::string& a,
                                     const std::string& b) const;

  /// Adds an order of an earlier run. It holds until this run finds the reverse order.
  void recall_order(const ImportOrder& order);
  /// The orders that this run found.
  std::vector<ImportOrder> new_orders() const;

  /// The libraries in the given order, changed only where an order is required.
  std::vector<std::string> in_order(const std::string& environment,
                                    std::vector<std::string> libraries) const;

 private:
  using Two = std::tuple<std::string, std::string, std::string>;  ///< environment, a, b

  std::map<Two, Failure> apart_;  ///< both ways
  std::set<Two> separate_;        ///< both ways
  struct Found {
    Failure failure;
    bool is_old = false;  ///< found by an earlier run
  };
  std::map<Two, Found> orders_;  ///< {environment, library, before}
  std::map<std::pair<std::string, std::string>, Failure> isolated_;
  std::set<std::size_t> pairs_;
};

/// No limit on the number of libraries in a worker.
inline constexpr std::size_t kAnyNumber = std::numeric_limits<std::size_t>::max();

/// Divides these pairs of one environment into groups with few imports: one group if all libraries
/// can share a process, otherwise a greedy cover. Each isolated pair gets its own group.
std::vector<Group> plan_groups(const plan::Plan& plan, std::span<const std::size_t> pairs,
                               const Compatibility& known, std::size_t most_libraries = kAnyNumber);

}  // namespace dlbench::supervisor
