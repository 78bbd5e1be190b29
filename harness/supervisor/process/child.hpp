#pragma once

#include <poll.h>
#include <sys/types.h>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "results/file.hpp"
#include "supervisor/process/tail.hpp"

namespace dlbench::supervisor {

/// Seconds between two polls of what no descriptor reports: signals, a stop from another thread,
/// the end of a child with streams that another process holds open.
inline constexpr double kPollInterval = 0.05;

/// The program to start.
struct Command {
  std::vector<std::string> words;
  std::map<std::string, std::string> variables{};  ///< set in addition to those of this process
  /// A file for all of its output. The process then has its own session, apart from this terminal.
  /// Empty: the last part of its output is kept.
  std::string log{};
  int inherited = -1;  ///< a descriptor that it inherits as number 4; -1: none
};

/// Thrown if a program cannot be started: "PROGRAM: No such file or directory".
struct CannotStart : std::system_error {
  CannotStart(int code, const std::string& name)
      : std::system_error(code, std::generic_category(), name), program(name) {}
  std::string program;
};

/// Owns a process in its own process group. stdin is /dev/null, fd 3 is one end of a socketpair.
/// Keeps the last part of the output unless it goes to a log. The destructor kills the group.
class Child {
 public:
  /// Throws CannotStart, or another std::system_error if no pipe can be made.
  explicit Child(const Command& command, std::size_t most_output = std::size_t{64} << 10);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  pid_t pid() const { return pid_; }
  int socket() const { return socket_.get(); }
  const Tail& out() const { return out_.tail; }
  const Tail& err() const { return err_.tail; }

  /// Reads one buffer of each output stream: a full pipe would block the child, and endless output
  /// must not delay the caller.
  void drain();
  /// Reads the remaining output of a child that has ended.
  void drain_rest();
  /// Adds the streams that may have something to read.
  void add_streams(std::vector<pollfd>& fds) const;

  /// Sends a signal to the whole group.
  void signal(int number) const;

  /// Has the child ended? Does not reap it, so that its group id is not reused.
  bool ended() const;

  /// Kills the rest of the group and reaps the child, and kills what it left running elsewhere, see
  /// Grandchildren. Later calls return the same wait status.
  int end();

 private:
  struct Pipe {
    results::File fd;  ///< closed at the end of the stream
    Tail tail;
  };
  static bool drain(Pipe& pipe);

  results::File socket_;
  Pipe out_, err_;
  pid_t pid_ = -1;
  std::optional<int> status_;
};

}  // namespace dlbench::supervisor
