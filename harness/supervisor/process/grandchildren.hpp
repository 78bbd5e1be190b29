#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace dlbench::supervisor {

/// While one of these lives, processes that a dead child leaves running become children of this
/// process instead of init, and are killed when the child ends. Children of this process from
/// before, and what living children have started, are left alone. Linux only; elsewhere it does
/// nothing.
class Grandchildren {
 public:
  enum class Kill {
    all,     ///< this process starts no child but those of start_marked()
    marked,  ///< only processes with the mark of a child: others may be this process's own
  };

  explicit Grandchildren(Kill kill);
  ~Grandchildren();
  Grandchildren(const Grandchildren&) = delete;
  Grandchildren& operator=(const Grandchildren&) = delete;

 private:
  Kill kill_;
};

/// The environment variable that identifies a child and all its descendants: kMark=PARENT-NUMBER.
inline constexpr const char* kMark = "DLBENCH_WORKER";

/// Calls `spawn` with a new mark, and registers the process that it returns, if any, as living.
void start_marked(const std::function<pid_t(const std::string& mark)>& spawn);

/// For a child that was reaped and led a group that was killed: it is not living any more, and what
/// it left, running or dead, is killed and reaped.
void sweep_after(pid_t child);

}  // namespace dlbench::supervisor
