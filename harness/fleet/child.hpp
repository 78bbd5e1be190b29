#pragma once

#include <poll.h>
#include <sys/types.h>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "fleet/fd.hpp"
#include "fleet/tail.hpp"

namespace dlbench::fleet {

/// What to start.
struct Command {
  std::vector<std::string> words;
  std::map<std::string, std::string> variables{};  ///< set beside those of this process
  /// A file that gets all that it prints: it then runs in a session of its own, apart from this
  /// terminal. Empty: the end of what it prints is held.
  std::string log{};
  int inherited = -1;  ///< a descriptor that it holds too, as number 4; -1: none
};

/// A program that cannot be started: "PROGRAM: No such file or directory".
struct CannotStart : std::system_error {
  CannotStart(int code, const std::string& name)
      : std::system_error(code, std::generic_category(), name), program(name) {}
  std::string program;
};

/// A process in a process group of its own: stdin is /dev/null, fd 3 is one end of a socketpair,
/// and the end of what it prints is held unless it goes to a log. Destroyed, it takes its whole
/// group along.
class Child {
 public:
  /// Throws CannotStart, or another std::system_error where no pipe can be made.
  explicit Child(const Command& command, std::size_t most_output = std::size_t{64} << 10);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  pid_t pid() const { return pid_; }
  int socket() const { return socket_.get(); }
  const Tail& out() const { return out_.tail; }
  const Tail& err() const { return err_.tail; }

  /// Takes what was printed, a bite of each stream: a full pipe would stop the child, and a flood
  /// must not hide the clock.
  void drain();
  /// Takes what is left of a child that has ended.
  void drain_rest();
  /// Adds the streams that may have something to read.
  void add_streams(std::vector<pollfd>& fds) const;

  /// To the whole group.
  void signal(int number) const;

  /// Has it ended? Does not reap it, so that its group's number stays its own.
  bool ended() const;

  /// Kills what is left of the group and reaps; returns the wait status of the first time.
  int end();

 private:
  struct Pipe {
    Fd fd;  ///< closed at the end of the stream
    Tail tail;
  };
  static bool drain(Pipe& pipe);

  Fd socket_;
  Pipe out_, err_;
  pid_t pid_ = -1;
  std::optional<int> status_;
};

/// The environment variable that names a worker of a run, kMark=PARENT-NUMBER. All its descendants
/// carry it too.
inline constexpr const char* kMark = "DLBENCH_WORKER";

}  // namespace dlbench::fleet
