#pragma once

#include <limits>
#include <optional>
#include <string>

#include "supervisor/process/child.hpp"

namespace dlbench::supervisor {

/// A program that runs to its end, without requests and replies.
class Program {
 public:
  /// Throws std::system_error if the program cannot be started. By default it has no deadline.
  explicit Program(const Command& command,
                   double timeout_s = std::numeric_limits<double>::infinity());

  pid_t pid() const { return child_.pid(); }

  /// Waits for at most `most_s` seconds. Returns true if the program has ended; kills it past its
  /// deadline. Returns early after a signal to this process.
  bool wait(double most_s);

  std::string out() const;
  std::string err() const;
  /// As exit_status(); nothing if it was killed at its deadline.
  std::optional<int> status() const { return status_; }

 private:
  Child child_;
  bool has_log_;
  double deadline_;
  std::optional<int> status_;
};

}  // namespace dlbench::supervisor
