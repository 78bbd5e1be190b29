#pragma once

#include <string>
#include <vector>

#include "model/outcome.hpp"

namespace dlbench::fleet {

/// How a worker ended that was not told to.
struct Death {
  enum class Kind { crashed, timed_out, out_of_memory };

  Kind kind = Kind::crashed;
  std::string signal;       ///< "SIGSEGV"; empty where it was none of its own doing
  std::string how;          ///< "SIGSEGV", "it ended with status 0", "it sent no JSON line: ..."
  std::string step;         ///< the last that it announced
  std::string stderr_tail;  ///< valid UTF-8, a few kilobytes at most
  bool idle = false;        ///< it had nothing to do at the time
};

/// Why cells have no number.
struct Trouble {
  Outcome outcome = Outcome::crashed;
  std::string reason;
  std::string exception;
  std::string signal;
  std::string stderr_tail;
  std::string code = "";  ///< as in Entry
  std::vector<std::string> imports{};
};

/// "SIGSEGV", or "signal 40".
std::string signal_name(int number);

/// What a wait status says: "SIGSEGV", "it ended with status 0".
std::string how_ended(int wait_status);

/// "crashed while `doing`: SIGSEGV" and its kin, one line.
Trouble trouble(const Death& death, const std::string& doing, double timeout_s);

/// Invalid UTF-8 replaced, the last `most` bytes.
std::string presentable(std::string_view text, std::size_t most = 4096);

}  // namespace dlbench::fleet
