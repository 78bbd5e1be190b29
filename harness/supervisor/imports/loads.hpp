#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "supervisor/plan/plan.hpp"

namespace dlbench::supervisor {

/// An adapter file to be imported by a worker.
struct Load {
  std::string role, library, path;
  bool needed = true;  ///< false for the files of the reference exchange
};

/// The files that a worker imports, one after another: both files of each library, because `ready`,
/// `address` and `values` may be in either.
class Loads {
 public:
  using Filter = std::function<bool(const std::string& library, const std::string& role)>;

  Loads() = default;
  /// The files of these libraries in this order, without those for which `skips` returns true, then
  /// the files of the reference exchange.
  Loads(const plan::Plan& plan, const std::string& environment,
        std::span<const std::string> libraries, const Filter& skips, bool reference);

  bool is_over() const { return next_ == all_.size(); }
  const Load& current() const { return all_[next_]; }
  const Load& pop() { return all_[next_++]; }

  /// The libraries that are imported before the current one, in this order.
  std::vector<std::string> before_current() const;

  /// Is the current file the first of its library?
  bool begins_library() const;

  /// Skips the remaining files of the current library.
  void skip_library();
  /// Skips all remaining needed files.
  void skip_needed();

  bool has_reference() const;

 private:
  std::vector<Load> all_;
  std::size_t next_ = 0;
};

/// "importing torch (producer)", with " after numpy" if exactly one library was imported before.
std::string describe_import(const Loads& loads);

}  // namespace dlbench::supervisor
