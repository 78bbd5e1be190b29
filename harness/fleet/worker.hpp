#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "fleet/channel.hpp"
#include "fleet/child.hpp"
#include "fleet/death.hpp"

namespace dlbench::fleet {

/// What a request came to: the object with "ok", "error" or "hello", or the worker's end.
using Answer = std::variant<nlohmann::json, Death>;

/// One worker process. It answers requests one after another, in the order in which they were
/// sent; its first message is its greeting.
class Worker {
 public:
  /// Throws std::system_error where the program cannot be started.
  Worker(const Command& command, double timeout_s, Limits limits = {});

  /// Each request has `timeout_s` seconds from when it is its turn; a worker that needs more is
  /// killed.
  void ask(const nlohmann::json& request);
  bool waiting() const { return unanswered_ > 0; }

  /// For requests that are sent from now on.
  void set_timeout(double timeout_s) { timeout_s_ = timeout_s; }

  /// The answer if it is there, without waiting. After a Death only the destructor is left.
  std::optional<Answer> poll();

  /// SIGSTOP and SIGCONT to its group: thread pools spin, so only one of the fleet may run. Only
  /// without a request under way, so that no deadline runs in its sleep.
  void stop();
  void resume();

  /// Asks it to end; the destructor waits for nothing and kills.
  void say_end();
  bool ended() const { return child_.ended(); }

  /// Has it end by itself: `request` is its last, and poll() then gives a Death, whose exit status
  /// shows how it ended. What it prints meanwhile, for as long as it takes within its time, is
  /// read.
  void finish(const nlohmann::json& request);

  pid_t pid() const { return child_.pid(); }

 private:
  friend void wait(std::span<Worker* const> workers, double most_s);

  std::optional<nlohmann::json> next_answer();
  Death gone();
  Death killed(Death::Kind kind, const std::string& how);
  void finish(Death& death);

  double timeout_s_;
  Child child_;
  Channel channel_;
  std::string step_;
  double deadline_ = 0;
  std::size_t unanswered_ = 1;  ///< answers
  bool wire_open_ = true;
  bool finishing_ = false;
  bool idle_loss_ = false;
  bool stopped_ = false;
};

/// Sleeps until one of them has a message, a deadline is near, a signal came, or `most_s`.
void wait(std::span<Worker* const> workers, double most_s);

/// Monotonic seconds.
double now_s();

}  // namespace dlbench::fleet
