#pragma once

#include <sys/types.h>

#include <map>
#include <set>
#include <string>

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

  /// Kills and reaps all that was left to us, generation by generation, except the workers in
  /// `marks` themselves and the processes that carry the mark of one of them.
  void sweep(const std::map<pid_t, std::string>& marks) const;

 private:
  std::set<pid_t> before_;
  int was_reaper_ = 0;
};

}  // namespace dlbench::fleet
