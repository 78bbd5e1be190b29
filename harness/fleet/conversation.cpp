#include "fleet/conversation.hpp"

#include <utility>
#include <variant>

#include "fleet/channel.hpp"
#include "fleet/signals.hpp"
#include "fleet/wire.hpp"

namespace dlbench::fleet {

Death death_of(const std::exception& garbage) {
  const bool is_message = dynamic_cast<const nlohmann::json::exception*>(&garbage) != nullptr;
  Death death;
  death.kind = Death::Kind::garbled;
  death.how = is_message ? "it sent an answer of another shape: " : "it sent ";
  death.how += garbage.what();
  return death;
}

void Conversation::start(const std::string& environment) {
  current_work_ = {Activity::start, nullptr};
  worker_ = context_.start_worker(environment);
}

void Conversation::send(const nlohmann::json& request, Activity activity, Task* task) {
  current_work_ = {activity, task};
  worker_->ask(request);
}

Reply Conversation::ask(const nlohmann::json& request, Activity activity, Task* task) {
  // Checked here too: without it a signal would be missed where workers answer at once.
  throw_if_stopped();
  send(request, activity, task);
  return receive(activity, task);
}

Reply Conversation::receive(Activity activity, Task* task) {
  current_work_ = {activity, task};
  Worker* const only = worker_.get();
  while (true) {
    if (const std::optional<nlohmann::json> body = poll()) {
      context_.spent.add(*body);
      if (body->contains("ok")) return {true, (*body)["ok"]};
      if (body->contains("error")) return {false, (*body)["error"]};
      throw Garbage("a second greeting");
    }
    throw_if_stopped();
    wait({&only, 1}, 1.0);
    context_.progress.tick();
  }
}

void Conversation::drop(Task& task) {
  task.prepared = false;
  ask(drop_request(task), Activity::drop, &task);
}

std::optional<nlohmann::json> Conversation::poll() {
  std::optional<Answer> answer = worker_->poll();
  if (!answer) return std::nullopt;
  if (const Death* death = std::get_if<Death>(&*answer)) throw Died{*death};
  return std::get<nlohmann::json>(std::move(*answer));
}

nlohmann::json Conversation::wait_within_budget() {
  Worker* const only = worker_.get();
  while (true) {
    if (std::optional<nlohmann::json> message = poll()) return std::move(*message);
    throw_if_stopped();
    if (context_.budget.is_over()) throw OutOfBudget{};
    wait({&only, 1}, context_.budget.is_set() ? context_.budget.left() : 1.0);
    context_.progress.tick();
  }
}

void Conversation::dismiss() {
  context_.workers.dismiss(std::move(worker_));
}

}  // namespace dlbench::fleet
