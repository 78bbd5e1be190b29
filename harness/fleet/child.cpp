#include "fleet/child.hpp"

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

extern char** environ;

namespace dlbench::fleet {
namespace {

constexpr int kWire = 3;

[[noreturn]] void fail(int code, const std::string& what) {
  throw std::system_error(code, std::generic_category(), what);
}

// Out of the way of 0..3, which the child's end of things is moved onto.
Fd moved_up(int fd) {
  const Fd low(fd);
  const int high = ::fcntl(fd, F_DUPFD_CLOEXEC, 10);
  if (high < 0) fail(errno, "no file descriptor left");
  return Fd(high);
}

struct Pair {
  Fd ours, theirs;
};

Pair socket_pair() {
  std::array<int, 2> fds{};
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, fds.data()) != 0) fail(errno, "no socket");
  Fd ours = moved_up(fds[0]);
  return {std::move(ours), moved_up(fds[1])};
}

Pair pipe_from_child() {
  std::array<int, 2> fds{};
  if (::pipe(fds.data()) != 0) fail(errno, "no pipe");
  Fd ours = moved_up(fds[0]);
  return {std::move(ours), moved_up(fds[1])};
}

void never_block(const Fd& fd) {
  ::fcntl(fd.get(), F_SETFL, O_NONBLOCK);
}

struct Actions {
  posix_spawn_file_actions_t raw;
  Actions() { ::posix_spawn_file_actions_init(&raw); }
  ~Actions() { ::posix_spawn_file_actions_destroy(&raw); }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;
};

struct Attributes {
  posix_spawnattr_t raw;
  Attributes() {
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
    ::posix_spawnattr_setflags(
        &raw, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~Attributes() { ::posix_spawnattr_destroy(&raw); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
};

std::vector<std::string> marked_environment(const std::string& mark) {
  const std::string prefix = std::string(kMark) + "=";
  std::vector<std::string> variables{prefix + mark};
  for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
    if (!std::string_view(*each).starts_with(prefix)) variables.emplace_back(*each);
  }
  return variables;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

}  // namespace

Child::Child(const std::vector<std::string>& command, const std::string& mark) {
  Pair wire = socket_pair();
  Pair out = pipe_from_child();
  Pair err = pipe_from_child();
  Actions actions;
  ::posix_spawn_file_actions_addopen(&actions.raw, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions.raw, out.theirs.get(), 1);
  ::posix_spawn_file_actions_adddup2(&actions.raw, err.theirs.get(), 2);
  ::posix_spawn_file_actions_adddup2(&actions.raw, wire.theirs.get(), kWire);
#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 34)
  ::posix_spawn_file_actions_addclosefrom_np(&actions.raw, kWire + 1);
#endif
#endif
  const Attributes attributes;
  const std::vector<std::string> variables = marked_environment(mark);
  const int error = ::posix_spawnp(&pid_, command.at(0).c_str(), &actions.raw, &attributes.raw,
                                   pointers(command).data(), pointers(variables).data());
  if (error != 0) {
    pid_ = -1;
    fail(error, command[0]);
  }
  socket_ = std::move(wire.ours);
  out_ = std::move(out.ours);
  err_ = std::move(err.ours);
  for (const Fd* fd : {&socket_, &out_, &err_}) never_block(*fd);
}

Child::Child(Child&& other) noexcept
    : socket_(std::move(other.socket_)),
      out_(std::move(other.out_)),
      err_(std::move(other.err_)),
      pid_(std::exchange(other.pid_, -1)),
      status_(other.status_) {}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(socket_, other.socket_);
  std::swap(out_, other.out_);
  std::swap(err_, other.err_);
  std::swap(pid_, other.pid_);
  std::swap(status_, other.status_);
  return *this;
}

Child::~Child() {
  end();
}

void Child::signal(int number) const {
  if (pid_ > 0 && !status_) ::kill(-pid_, number);
}

bool Child::ended() const {
  if (pid_ <= 0 || status_) return true;
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid_;
}

int Child::end() {
  if (pid_ <= 0) return 0;
  if (!status_) {
    ::kill(-pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    status_ = status;
  }
  return *status_;
}

}  // namespace dlbench::fleet
