#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "fleet/channel.hpp"
#include "fleet/child.hpp"
#include "fleet/death.hpp"
#include "fleet/tail.hpp"

namespace dlbench::fleet {

/// What a request came to: the object with "ok", "error" or "hello", or the worker's end.
using Answer = std::variant<nlohmann::json, Death>;

/// One worker process. It answers requests one after another, in the order in which they were
/// asked; right after the start it owes its greeting.
class Worker {
 public:
  /// Throws std::system_error where the program cannot be started.
  Worker(const std::vector<std::string>& command, const std::string& mark, double timeout_s);

  /// Each request has `timeout_s` seconds from when it is its turn; a worker that needs more is
  /// killed.
  void ask(const nlohmann::json& request);
  bool waiting() const { return owed_ > 0; }

  /// The answer if it is there, without waiting. After a Death only the destructor is left.
  std::optional<Answer> poll();

  /// SIGSTOP and SIGCONT to its group: thread pools spin, so only one of the fleet may run. Only
  /// without a request under way, so that no deadline runs in its sleep.
  void stop();
  void resume();

  /// Asks it to end; the destructor waits for nothing and kills.
  void say_end();
  bool ended() const { return child_.ended(); }

  pid_t pid() const { return child_.pid(); }
  const std::string& mark() const { return mark_; }

 private:
  friend void wait(std::span<Worker* const> workers, double most_s);

  struct Pipe {
    int fd;
    Tail tail;
    bool open = true;
  };

  static bool drain(Pipe& pipe);
  std::optional<nlohmann::json> next_answer();
  Death gone();
  Death killed(Death::Kind kind, const std::string& how);
  void finish(Death& death);

  std::string mark_;
  double timeout_s_;
  Child child_;
  Channel channel_;
  Pipe out_, err_;
  std::string step_;
  double deadline_ = 0;
  std::size_t owed_ = 1;  ///< answers
  bool idle_loss_ = false;
  bool stopped_ = false;
};

/// Sleeps until one of them has something to say, a deadline is near, a signal came, or `most_s`.
void wait(std::span<Worker* const> workers, double most_s);

/// Monotonic seconds.
double now_s();

}  // namespace dlbench::fleet
