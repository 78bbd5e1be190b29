#include "supervisor/process/child.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "supervisor/process/grandchildren.hpp"

extern char** environ;

namespace dlbench::supervisor {
namespace {

constexpr int kWire = 3;
constexpr int kInherited = 4;

[[noreturn]] void fail(int code, const std::string& what) {
  throw std::system_error(code, std::generic_category(), what);
}

// Copies the descriptor above 0..4, which are the descriptors of the child.
results::File copied_up(int fd) {
  const int high = ::fcntl(fd, F_DUPFD_CLOEXEC, 10);
  if (high < 0) fail(errno, "no file descriptor left");
  return results::File(high);
}

results::File moved_up(int fd) {
  const results::File low(fd);
  return copied_up(fd);
}

struct Pair {
  results::File ours, theirs;
};

Pair socket_pair() {
  std::array<int, 2> fds{};
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, fds.data()) != 0) fail(errno, "no socket");
  results::File ours = moved_up(fds[0]);
  return {std::move(ours), moved_up(fds[1])};
}

Pair pipe_from_child() {
  std::array<int, 2> fds{};
  if (::pipe(fds.data()) != 0) fail(errno, "no pipe");
  results::File ours = moved_up(fds[0]);
  return {std::move(ours), moved_up(fds[1])};
}

void never_block(const results::File& fd) {
  ::fcntl(fd.get(), F_SETFL, O_NONBLOCK);
}

struct Actions {
  posix_spawn_file_actions_t raw;
  Actions() { ::posix_spawn_file_actions_init(&raw); }
  ~Actions() { ::posix_spawn_file_actions_destroy(&raw); }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;
};

/// Closes all descriptors from a number on in the child, so that libraries do not inherit
/// descriptors. glibc has this function since 2.34 and wheels are built against an older glibc, so
/// it is looked up at run time. Where it is missing, these descriptors stay open.
using CloseFrom = int(posix_spawn_file_actions_t*, int);

CloseFrom* find_close_from() {
  static const auto found = reinterpret_cast<CloseFrom*>(
      ::dlsym(RTLD_DEFAULT, "posix_spawn_file_actions_addclosefrom_np"));
  return found;
}

struct Attributes {
  posix_spawnattr_t raw;
  explicit Attributes(bool own_session) {
    ::posix_spawnattr_init(&raw);
    ::posix_spawnattr_setpgroup(&raw, 0);
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&raw, &none);
    sigset_t reset;
    ::sigemptyset(&reset);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT, SIGCHLD}) {
      ::sigaddset(&reset, number);
    }
    ::posix_spawnattr_setsigdefault(&raw, &reset);
    // The leader of a session also leads a process group.
    const int group = own_session ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP;
    ::posix_spawnattr_setflags(
        &raw, static_cast<short>(group | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  }
  ~Attributes() { ::posix_spawnattr_destroy(&raw); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
};

std::vector<std::string> environment(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> all;
  for (const auto& [name, value] : variables) {
    all.push_back(name);
    all.back().append("=").append(value);
  }
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    const std::string_view text(*each);
    const std::string name(text.substr(0, text.find('=')));
    if (!variables.contains(name)) all.emplace_back(text);
  }
  return all;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

}  // namespace

Child::Child(const Command& command, std::size_t most_output)
    : out_{{}, Tail(most_output)}, err_{{}, Tail()} {
  Pair wire = socket_pair();
  Pair out = pipe_from_child();
  Pair err = pipe_from_child();
  Actions actions;
  ::posix_spawn_file_actions_addopen(&actions.raw, 0, "/dev/null", O_RDONLY, 0);
  if (command.log.empty()) {
    ::posix_spawn_file_actions_adddup2(&actions.raw, out.theirs.get(), 1);
    ::posix_spawn_file_actions_adddup2(&actions.raw, err.theirs.get(), 2);
  } else {
    constexpr int kTo = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND;
    ::posix_spawn_file_actions_addopen(&actions.raw, 1, command.log.c_str(), kTo, 0666);
    ::posix_spawn_file_actions_adddup2(&actions.raw, 1, 2);
  }
  ::posix_spawn_file_actions_adddup2(&actions.raw, wire.theirs.get(), kWire);
  results::File inherited;
  if (command.inherited >= 0) {
    inherited = copied_up(command.inherited);
    ::posix_spawn_file_actions_adddup2(&actions.raw, inherited.get(), kInherited);
  }
  if (CloseFrom* const close_from = find_close_from()) {
    close_from(&actions.raw, inherited ? kInherited + 1 : kWire + 1);
  }
  const Attributes attributes(!command.log.empty());
  const std::string& program = command.words.at(0);
  int error = 0;
  start_marked([&](const std::string& mark) {
    std::map<std::string, std::string> variables = command.variables;
    variables[kMark] = mark;
    const std::vector<std::string> all = environment(variables);
    error = ::posix_spawnp(&pid_, program.c_str(), &actions.raw, &attributes.raw,
                           pointers(command.words).data(), pointers(all).data());
    if (error != 0) pid_ = -1;
    return pid_;
  });
  if (error != 0) throw CannotStart(error, program);
  socket_ = std::move(wire.ours);
  out_.fd = std::move(out.ours);
  err_.fd = std::move(err.ours);
  for (const results::File* fd : {&socket_, &out_.fd, &err_.fd}) never_block(*fd);
}

Child::~Child() {
  end();
}

void Child::drain() {
  drain(out_);
  drain(err_);
}

void Child::drain_rest() {
  // Bounded, because a grandchild may hold the other end and write without end.
  for (Pipe* pipe : {&out_, &err_}) {
    for (int bite = 0; bite < 64 && drain(*pipe); ++bite) {
    }
  }
}

void Child::add_streams(std::vector<pollfd>& fds) const {
  for (const Pipe* pipe : {&out_, &err_}) {
    if (pipe->fd) fds.push_back({pipe->fd.get(), POLLIN, 0});
  }
}

/// Returns false at the end of the stream or if nothing is available.
bool Child::drain(Pipe& pipe) {
  if (!pipe.fd) return false;
  std::array<char, std::size_t{64} << 10> block;
  const ssize_t count = ::read(pipe.fd.get(), block.data(), block.size());
  if (count == 0) pipe.fd.close();
  if (count <= 0) return false;
  pipe.tail.append({block.data(), static_cast<std::size_t>(count)});
  return true;
}

void Child::signal(int number) const {
  if (pid_ > 0 && !status_) ::kill(-pid_, number);
}

bool Child::ended() const {
  if (pid_ <= 0 || status_) return true;
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0) {
    return info.si_pid == pid_;
  }
  // If SIGCHLD is ignored, the kernel has reaped the child already.
  return errno == ECHILD;
}

int Child::end() {
  if (pid_ <= 0) return 0;
  if (!status_) {
    ::kill(-pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    status_ = status;
    sweep_after(pid_);
  }
  return *status_;
}

}  // namespace dlbench::supervisor
