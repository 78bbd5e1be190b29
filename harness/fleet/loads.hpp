#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "fleet/task.hpp"
#include "plan/plan.hpp"

namespace dlbench::fleet {

/// An adapter file that a worker is to import.
struct Load {
  std::string role, library, path;
  bool needed = true;  ///< false for the reference exchange's
};

/// What a pair's worker imports, one after another.
class Loads {
 public:
  Loads() = default;
  /// The files of all tasks that are not over, then the reference exchange's.
  Loads(const plan::Plan& plan, const plan::Pair& pair, std::span<const Task> tasks,
        bool reference);

  bool is_over() const { return next_ == all_.size(); }
  const Load& current() const { return all_[next_]; }
  /// The library that was imported before the current one, or empty.
  std::string before_current() const;
  const Load& take() { return all_[next_++]; }

  /// The needed libraries in the other order.
  void reverse();

  void skip_to_needed();
  void skip_all() { next_ = all_.size(); }

  bool has_reference() const;

 private:
  std::vector<Load> all_;
  std::size_t next_ = 0;
};

}  // namespace dlbench::fleet
