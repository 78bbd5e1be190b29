#pragma once

#include <sys/types.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace dlbench::fleet {

/// While this lives, what a dead worker leaves running becomes our child instead of init's, and is
/// ended by sweep(). What was our child before is left alone. Linux only; elsewhere it does
/// nothing.
class Grandchildren {
 public:
  Grandchildren();
  ~Grandchildren();
  Grandchildren(const Grandchildren&) = delete;
  Grandchildren& operator=(const Grandchildren&) = delete;

  /// Kills and reaps all that was left to us, generation by generation, except `workers` themselves
  /// and the processes that carry the mark of one of `living`.
  void sweep(const std::set<pid_t>& workers, const std::set<std::string>& living) const;

 private:
  std::set<pid_t> before_;
  int was_reaper_ = 0;
};

}  // namespace dlbench::fleet
