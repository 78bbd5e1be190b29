#pragma once

#include <signal.h>

namespace dlbench::fleet {

/// SIGINT, SIGTERM and SIGHUP set a flag while this lives; what was there before is put back, and a
/// SIGHUP that was ignored stays so. One at a time in a process. SIGCHLD is set to its default
/// meanwhile: ignored, children would reap themselves and take their reason with them.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// 0, or the first that came.
  static int caught();

 private:
  struct sigaction interrupt_, terminate_, hang_up_, child_;
};

/// Thrown out of a wait once a signal came.
struct Stopped {
  int signal = 0;
};

inline void throw_if_stopped() {
  if (const int signal = Signals::caught(); signal != 0) throw Stopped{signal};
}

}  // namespace dlbench::fleet
