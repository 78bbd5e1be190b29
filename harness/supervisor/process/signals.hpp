#pragma once

#include <signal.h>

namespace dlbench::supervisor {

/// While this object lives, SIGINT, SIGTERM and SIGHUP set a flag; the destructor restores the
/// former handlers. A SIGHUP that was ignored stays ignored. SIGCHLD has its default action,
/// because the exit status of children is lost if it is ignored. Only one object may exist in a
/// process.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// The first signal that was received, or 0.
  static int caught();

 private:
  struct sigaction interrupt_, terminate_, hang_up_, child_;
};

/// Thrown out of a wait after a signal.
struct Stopped {
  int signal = 0;
};

inline void throw_if_stopped() {
  if (const int signal = Signals::caught(); signal != 0) throw Stopped{signal};
}

}  // namespace dlbench::supervisor
