#pragma once

#include <optional>
#include <string>

#include "fleet/child.hpp"

namespace dlbench::fleet {

/// A program without a wire, run to its end.
class Program {
 public:
  /// Throws std::system_error where it cannot be started.
  Program(const Command& command, double timeout_s);

  /// Waits for at most that long. True once it has ended; past its deadline it is killed.
  bool wait(double most_s);

  std::string out() const;
  std::string err() const;
  /// As of exit_status(); nothing where it was killed at its deadline.
  std::optional<int> status() const { return status_; }

 private:
  Child child_;
  double deadline_;
  std::optional<int> status_;
};

}  // namespace dlbench::fleet
