#pragma once

#include <limits>
#include <optional>
#include <string>

#include "fleet/child.hpp"

namespace dlbench::fleet {

/// A program without a wire, run to its end.
class Program {
 public:
  /// Throws std::system_error where it cannot be started. Without a deadline it may run for ever.
  explicit Program(const Command& command,
                   double timeout_s = std::numeric_limits<double>::infinity());

  pid_t pid() const { return child_.pid(); }

  /// Waits for at most that long. True once it has ended; past its deadline it is killed. Returns
  /// early after a signal to this process.
  bool wait(double most_s);

  std::string out() const;
  std::string err() const;
  /// As of exit_status(); nothing where it was killed at its deadline.
  std::optional<int> status() const { return status_; }

 private:
  Child child_;
  bool has_log_;
  double deadline_;
  std::optional<int> status_;
};

}  // namespace dlbench::fleet
