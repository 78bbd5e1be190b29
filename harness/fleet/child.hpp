#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "fleet/fd.hpp"

namespace dlbench::fleet {

/// A process in a process group of its own: stdin is /dev/null, stdout and stderr are pipes, fd 3
/// is one end of a socketpair. Destroyed, it takes its whole group along.
class Child {
 public:
  /// Throws std::system_error where the program cannot be started. `mark` is put into its
  /// environment (see kMark), where all its descendants carry it too.
  Child(const std::vector<std::string>& command, const std::string& mark);
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  pid_t pid() const { return pid_; }
  int socket() const { return socket_.get(); }
  int out() const { return out_.get(); }
  int err() const { return err_.get(); }

  /// To the whole group.
  void signal(int number) const;

  /// Has it ended? Does not reap it, so that its group's number stays its own.
  bool ended() const;

  /// Kills what is left of the group and reaps; returns the wait status of the first time.
  int end();

 private:
  Fd socket_, out_, err_;
  pid_t pid_ = -1;
  std::optional<int> status_;
};

/// The environment variable that names a worker: kMark=PARENT-NUMBER.
inline constexpr const char* kMark = "DLBENCH_WORKER";

}  // namespace dlbench::fleet
