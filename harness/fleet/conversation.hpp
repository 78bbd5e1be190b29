#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "fleet/activity.hpp"
#include "fleet/context.hpp"

namespace dlbench::fleet {

/// What a request came to: the content of its "ok" or of its "error".
struct Reply {
  bool ok = false;
  nlohmann::json body;
};

/// Thrown where the worker ended instead of answering.
struct Died {
  Death death;
};

/// A worker that sent what is no answer, as a death.
Death death_of(const std::exception& garbage);

/// A worker from its start to its end, and what it was last asked for. Its methods throw Died and
/// Garbage for the worker's faults, and Stopped.
class Conversation {
 public:
  explicit Conversation(Context& context) : context_(context) {}

  /// Throws std::system_error where the interpreter cannot be started.
  void start(const std::string& environment);

  bool is_alive() const { return worker_ != nullptr; }
  Worker* worker() const { return worker_.get(); }
  const CurrentWork& current_work() const { return current_work_; }

  Reply ask(const nlohmann::json& request, Activity activity, Task* task = nullptr);

  /// The two halves of ask(): several requests may be sent before the first answer is received.
  void send(const nlohmann::json& request, Activity activity, Task* task = nullptr);
  Reply receive(Activity activity, Task* task = nullptr);

  /// Releases the arrays of a prepared exchange.
  void drop(Task& task);

  /// The next message, greeting or answer, if it is there.
  std::optional<nlohmann::json> poll();
  /// Waits for it; throws OutOfBudget.
  nlohmann::json wait_within_budget();

  void dismiss();
  std::unique_ptr<Worker> release() { return std::move(worker_); }

 private:
  Context& context_;
  std::unique_ptr<Worker> worker_;
  CurrentWork current_work_;
};

}  // namespace dlbench::fleet
