#include "supervisor/process/grandchildren.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>

#ifdef __linux__
#include <sys/prctl.h>
#endif

namespace dlbench::supervisor {
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

struct Family {
  std::mutex mutex;                    ///< a child is registered before a sweep can find it
  std::map<pid_t, std::string> marks;  ///< of the living children
  int started = 0;
  int scopes = 0;         ///< number of Grandchildren
  int scopes_of_all = 0;  ///< of these, the number that kill all
  std::set<pid_t> before;
  int was_reaper = 0;
};

Family& family() {
  static Family& family = *new Family;  // a child may end after static objects are gone
  return family;
}

std::string own_marks() {
  return std::to_string(::getpid()) + "-";
}

/// Kills and reaps the orphaned processes, generation by generation.
void sweep(const Family& family) {
  const auto is_left = [&family](pid_t pid) {
    if (family.before.contains(pid) || family.marks.contains(pid)) return false;
    const std::string mark = mark_of(pid);
    if (family.scopes_of_all == 0 && !mark.starts_with(own_marks())) return false;
    return std::none_of(family.marks.begin(), family.marks.end(),
                        [&](const auto& it) { return it.second == mark; });
  };
  // The children of a killed process become children of this process, so repeat until none is
  // found. The number of passes is bounded, because a process may fork faster than it can be
  // killed.
  for (int generation = 0; generation < 64; ++generation) {
    bool found = false;
    for (const pid_t pid : children()) {
      if (!is_left(pid)) continue;
      found = true;
      ::kill(pid, SIGKILL);
      while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
    if (!found) return;
  }
}

}  // namespace

Grandchildren::Grandchildren(Kill kill) : kill_(kill) {
  const std::lock_guard lock(family().mutex);
  if (kill_ == Kill::all) ++family().scopes_of_all;
  if (family().scopes == 0) family().before.clear();
  // An outer scope may have been there before this process started other children of its own.
  for (const pid_t pid : children()) {
    const bool is_marked = family().marks.contains(pid) || mark_of(pid).starts_with(own_marks());
    if (!is_marked) family().before.insert(pid);
  }
  if (family().scopes++ > 0) return;
#ifdef __linux__
  ::prctl(PR_GET_CHILD_SUBREAPER, &family().was_reaper, 0, 0, 0);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
#endif
}

Grandchildren::~Grandchildren() {
  const std::lock_guard lock(family().mutex);
  if (kill_ == Kill::all) --family().scopes_of_all;
  if (--family().scopes > 0) return;
#ifdef __linux__
  ::prctl(PR_SET_CHILD_SUBREAPER, family().was_reaper, 0, 0, 0);
#endif
}

void start_marked(const std::function<pid_t(const std::string& mark)>& spawn) {
  const std::lock_guard lock(family().mutex);
  const std::string mark = own_marks() + std::to_string(++family().started);
  if (const pid_t pid = spawn(mark); pid > 0) family().marks.emplace(pid, mark);
}

void sweep_after(pid_t child) {
  const std::lock_guard lock(family().mutex);
  family().marks.erase(child);
  if (family().scopes == 0) return;
  // Of the child's group, which was killed with it: a dead process shows no mark.
  while (::waitpid(-child, nullptr, 0) > 0 || errno == EINTR) {
  }
  try {
    sweep(family());
  } catch (const std::exception&) {
    // /proc is no longer readable, so nothing can be swept.
  }
}

}  // namespace dlbench::supervisor
