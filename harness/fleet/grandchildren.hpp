#pragma once

#include <sys/types.h>

#include <map>
#include <set>
#include <string>

namespace dlbench::fleet {

/// While this object lives, processes that a dead worker leaves running become children of this
/// process instead of init, and sweep() kills them. Earlier children of this process are left
/// alone. Linux only; elsewhere it does nothing.
class Grandchildren {
 public:
  Grandchildren();
  ~Grandchildren();
  Grandchildren(const Grandchildren&) = delete;
  Grandchildren& operator=(const Grandchildren&) = delete;

  /// Kills and reaps the orphaned processes, generation by generation, except the workers in
  /// `marks` and the processes that carry the mark of one of them.
  void sweep(const std::map<pid_t, std::string>& marks) const;

 private:
  std::set<pid_t> before_;
  int was_reaper_ = 0;
};

}  // namespace dlbench::fleet
