#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "supervisor/context.hpp"
#include "supervisor/imports/loads.hpp"
#include "supervisor/rounds/task.hpp"

namespace dlbench::supervisor {

/// The last request to a worker. It names the activity during which a worker died.
enum class Activity {
  start,
  load,
  floors,
  device_floors,
  device_memory,
  reference,
  exchange,
  phases,
  drop
};

struct CurrentWork {
  Activity activity = Activity::start;
  Task* task = nullptr;  ///< of the activities `exchange`, `phases` and `drop`
};

/// "torch imported numpy's array". `step` is the last step that the worker announced.
std::string describe(const CurrentWork& current_work, const Loads& loads, std::optional<Step> step);

/// The reply to a request: the content of its "ok" or of its "error".
struct Reply {
  bool ok = false;
  nlohmann::json body;
};

/// Thrown if the worker ended before it replied.
struct Died {
  Death death;
};

/// The Death of a worker that sent an invalid reply.
Death death_of(const std::exception& error);

/// One worker from its start to its end, and the last request to it. Its methods throw Died and
/// ProtocolError for the worker's faults, and Stopped.
class Conversation {
 public:
  explicit Conversation(Context& context) : context_(context) {}

  /// Throws std::system_error if the interpreter cannot be started.
  void start(const std::string& environment);

  bool is_alive() const { return worker_ != nullptr; }
  Worker* worker() const { return worker_.get(); }
  const CurrentWork& current_work() const { return current_work_; }

  Reply request(const nlohmann::json& message, Activity activity, Task* task = nullptr);

  /// The two halves of request(): several requests may be sent before the first reply is received.
  void send(const nlohmann::json& request, Activity activity, Task* task = nullptr);
  Reply receive(Activity activity, Task* task = nullptr);

  /// Releases the arrays of a prepared exchange.
  void drop(Task& task);

  /// The next message, a greeting or a reply, if one has arrived.
  std::optional<nlohmann::json> poll();
  /// Waits for the next message.
  nlohmann::json wait_for_message();

  void dismiss();
  std::unique_ptr<Worker> release() { return std::move(worker_); }

 private:
  Context& context_;
  std::unique_ptr<Worker> worker_;
  CurrentWork current_work_;
};

}  // namespace dlbench::supervisor
