#include "fleet/grandchildren.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "fleet/child.hpp"

#ifdef __linux__
#include <sys/prctl.h>
#endif

namespace dlbench::fleet {
namespace {

std::set<pid_t> children() {
  std::set<pid_t> found;
  std::error_code none;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", none)) {
    std::ifstream file(task.path() / "children");
    for (pid_t pid = 0; file >> pid;) found.insert(pid);
  }
  return found;
}

std::string mark_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/environ");
  const std::string key = std::string(kMark) + "=";
  for (std::string variable; std::getline(file, variable, '\0');) {
    if (variable.starts_with(key)) return variable.substr(key.size());
  }
  return "";
}

}  // namespace

Grandchildren::Grandchildren() : before_(children()) {
#ifdef __linux__
  ::prctl(PR_GET_CHILD_SUBREAPER, &was_reaper_, 0, 0, 0);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
#endif
}

Grandchildren::~Grandchildren() {
#ifdef __linux__
  ::prctl(PR_SET_CHILD_SUBREAPER, was_reaper_, 0, 0, 0);
#endif
}

void Grandchildren::sweep(const std::map<pid_t, std::string>& marks) const {
  const auto is_living = [&marks](pid_t pid) {
    const std::string mark = mark_of(pid);
    return marks.contains(pid) || std::any_of(marks.begin(), marks.end(),
                                              [&](const auto& it) { return it.second == mark; });
  };
  // The children of a killed process become children of this process, so repeat until none is
  // found. The number of passes is bounded, because a process may fork faster than it can be
  // killed.
  for (int generation = 0; generation < 64; ++generation) {
    bool found = false;
    for (const pid_t pid : children()) {
      if (before_.contains(pid) || is_living(pid)) continue;
      found = true;
      ::kill(pid, SIGKILL);
      while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
    if (!found) return;
  }
}

}  // namespace dlbench::fleet
