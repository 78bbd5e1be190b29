#pragma once

#include <optional>
#include <string>

#include "fleet/child.hpp"

namespace dlbench::fleet {

/// A program that runs to its end, without requests and replies.
class Program {
 public:
  /// Throws std::system_error if the program cannot be started.
  Program(const Command& command, double timeout_s);

  /// Waits for at most `most_s` seconds. Returns true if the program has ended; kills it past its
  /// deadline.
  bool wait(double most_s);

  std::string out() const;
  std::string err() const;
  /// As exit_status(); nothing if it was killed at its deadline.
  std::optional<int> status() const { return status_; }

 private:
  Child child_;
  double deadline_;
  std::optional<int> status_;
};

}  // namespace dlbench::fleet
