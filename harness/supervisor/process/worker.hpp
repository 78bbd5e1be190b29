#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "supervisor/process/channel.hpp"
#include "supervisor/process/child.hpp"
#include "supervisor/process/death.hpp"

namespace dlbench::supervisor {

/// The result of a request: the object with "ok", "error" or "hello", or the worker's death.
using Answer = std::variant<nlohmann::json, Death>;

/// Owns one worker process, which handles requests in the order in which they were sent. Its first
/// message is its greeting.
class Worker {
 public:
  /// Throws std::system_error if the program cannot be started.
  Worker(const Command& command, double timeout_s, Limits limits = {});

  /// Sends a request. It has `timeout_s` seconds after the replies to earlier requests; a worker
  /// that takes longer is killed.
  void send(const nlohmann::json& request);
  bool waiting() const { return unanswered_ > 0; }

  /// Applies to requests that are sent from now on.
  void set_timeout(double timeout_s) { timeout_s_ = timeout_s; }

  /// Returns the answer if it has arrived, without waiting. After a Death only the destructor may
  /// be called.
  std::optional<Answer> poll();

  /// Sends SIGSTOP or SIGCONT to the process group, because idle thread pools spin and would
  /// disturb the worker that measures. Call them only without a pending request, whose deadline
  /// could pass.
  void stop();
  void resume();

  /// Requests the worker's end. (The destructor kills without waiting.)
  void request_end();
  bool ended() const { return child_.ended(); }

  /// Sends the last request. poll() then returns a Death with the exit status. The output until
  /// then is read, within the timeout.
  void finish(const nlohmann::json& request);

  pid_t pid() const { return child_.pid(); }

 private:
  friend void wait(std::span<Worker* const> workers, double most_s);

  std::optional<nlohmann::json> next_answer();
  Death reap();
  Death kill(Death::Kind kind, const std::string& how);
  void finish(Death& death);

  double timeout_s_;
  Child child_;
  Channel channel_;
  std::optional<Step> step_;
  double deadline_ = 0;
  std::size_t unanswered_ = 1;  ///< replies that are pending
  bool wire_open_ = true;
  bool finishing_ = false;
  bool idle_loss_ = false;
  bool stopped_ = false;
};

/// Sleeps until a worker has a message, a deadline is near, a signal is received, or `most_s`
/// seconds have passed.
void wait(std::span<Worker* const> workers, double most_s);

/// Monotonic seconds.
double now_s();

}  // namespace dlbench::supervisor
