#pragma once

#include <optional>
#include <string>

#include "model/failure.hpp"
#include "model/step.hpp"

namespace dlbench::supervisor {

/// How a worker ended.
struct Death {
  /// `garbled`: it sent an invalid message and was killed.
  enum class Kind { crashed, garbled, timed_out, out_of_memory };

  Kind kind = Kind::crashed;
  std::string signal;        ///< "SIGSEGV"; empty if it exited or if dlbench killed it
  std::string how;           ///< "SIGSEGV", "it ended with status 0", "it sent no JSON line: ..."
  std::optional<Step> step;  ///< the last step that the worker announced
  std::string stdout_tail;   ///< valid UTF-8, at most a few kilobytes
  std::string stderr_tail;
  int exit_status = 0;  ///< or the negative number of the signal that ended it
  bool idle = false;    ///< it ended while no request was pending
};

/// "SIGSEGV", or "signal 40".
std::string signal_name(int number);

/// Describes a wait status: "SIGSEGV", "it ended with status 0".
std::string how_ended(int wait_status);

/// The exit status of a program, or the negative number of the signal that ended it.
int exit_status(int wait_status);

/// The cause of a death, with a reason such as "crashed while ACTIVITY: SIGSEGV".
Failure explain_death(const Death& death, const std::string& activity, double timeout_s);

/// The last `most` bytes of a text, with invalid UTF-8 replaced.
std::string presentable(std::string_view text, std::size_t most = 4096);

}  // namespace dlbench::supervisor
