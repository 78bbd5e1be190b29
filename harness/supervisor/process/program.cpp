#include "supervisor/process/program.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "supervisor/process/death.hpp"
#include "supervisor/process/worker.hpp"

namespace dlbench::supervisor {
namespace {

// The list of packages of an environment is one line of output.
constexpr std::size_t kMostOutput = std::size_t{1} << 20;
constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
constexpr double kEndIsNear = 0.001;

}  // namespace

Program::Program(const Command& command, double timeout_s)
    : child_(command, kMostOutput),
      has_log_(!command.log.empty()),
      deadline_(now_s() + timeout_s) {}

bool Program::wait(double most_s) {
  const double until = now_s() + most_s;
  while (true) {
    child_.drain();
    const bool ended = child_.ended();
    if (ended || now_s() > deadline_) {
      const int status = child_.end();
      if (ended) status_ = exit_status(status);
      child_.drain_rest();
      return true;
    }
    if (now_s() >= until) return false;
    std::vector<pollfd> fds;
    child_.add_streams(fds);
    const double left = std::max(0.0, std::min(until, deadline_) - now_s());
    // A program with a log has no streams to read.
    const double sleep = has_log_ ? left : std::min(left, fds.empty() ? kEndIsNear : kPollInterval);
    // The caller handles a signal.
    if (::poll(fds.data(), fds.size(), static_cast<int>(sleep * 1000) + 1) < 0) return false;
  }
}

std::string Program::out() const {
  return presentable(child_.out().text(), kAll);
}

std::string Program::err() const {
  return presentable(child_.err().text(), kAll);
}

}  // namespace dlbench::supervisor
