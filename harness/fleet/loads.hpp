#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace dlbench::fleet {

/// An adapter file that a worker is to import.
struct Load {
  std::string role, library, path;
  bool needed = true;  ///< false for the reference exchange's
};

/// What a worker imports, one file after another: both files of each library, since `ready`,
/// `address` and `values` may stand in either.
class Loads {
 public:
  using Filter = std::function<bool(const std::string& library, const std::string& role)>;

  Loads() = default;
  /// The files of these libraries in this order, but for those that `skips` names, then those of
  /// the reference exchange.
  Loads(const plan::Plan& plan, const std::string& environment,
        std::span<const std::string> libraries, const Filter& skips, bool reference);

  bool is_over() const { return next_ == all_.size(); }
  const Load& current() const { return all_[next_]; }
  const Load& take() { return all_[next_++]; }

  /// The libraries whose import came before that of the current one, in this order.
  std::vector<std::string> before_current() const;

  /// Is the current file the first of its library?
  bool begins_library() const;

  /// Passes over what is left of the current library.
  void skip_library();
  /// Passes over all needed files that are left.
  void skip_needed();

  bool has_reference() const;

 private:
  std::vector<Load> all_;
  std::size_t next_ = 0;
};

/// "importing torch (producer)", with " after numpy" where one library was imported before it.
std::string describe_import(const Loads& loads);

}  // namespace dlbench::fleet
