#include "supervisor/conversation.hpp"

#include <unistd.h>

#include <string>
#include <utility>
#include <variant>

#include "supervisor/process/channel.hpp"
#include "supervisor/process/signals.hpp"
#include "supervisor/wire.hpp"

namespace dlbench::supervisor {

std::string describe(const CurrentWork& current_work, const Loads& loads,
                     std::optional<Step> step) {
  switch (current_work.activity) {
    case Activity::start:
      return "starting";
    case Activity::load:
      return describe_import(loads);
    case Activity::floors:
      return "measuring the overhead floors";
    case Activity::device_floors:
      return "measuring a device's copy floors";
    case Activity::device_memory:
      return "reading a device's free memory";
    case Activity::reference:
      return "measuring the reference exchange";
    case Activity::drop:
      return "dropping arrays";
    case Activity::phases:
      return "separating the phases";
    case Activity::exchange:
      break;
  }
  const Exchange& x = current_work.task->exchange;
  if (!step) {
    return current_work.task->prepared ? "running the timed loop" : "preparing the exchange";
  }
  switch (*step) {
    case Step::make:
      return x.producer + " made an array";
    case Step::call:
      return x.consumer + " imported " + x.producer + "'s array";
    case Step::ready:
      return "waiting for " + x.consumer + "'s data";
    case Step::outlive:
      return "reading the result after " + x.producer + "'s array was dropped";
    case Step::values:
      return "comparing the values";
    case Step::recorder:
      return "recording the requests of " + x.consumer;
    case Step::lifetime:
      return "counting the deleters that " + x.consumer + " called";
    case Step::calibrate:
      return "calibrating the timed loop";
    case Step::growth:
      return "measuring the memory that exchanges leak";
    case Step::guard:
      return x.consumer + " imported " + x.producer + "'s guarded array";
    case Step::judged:
      return "preparing the next cell";
    case Step::phases:
      return "separating the phases";
    case Step::sync:
      return "classifying the synchronization";
    case Step::late_free:
      return "reading memory that " + x.producer + " freed";
    case Step::capture:
      return "capturing the exchange";
  }
  return "";
}

Death death_of(const std::exception& error) {
  const bool is_message = dynamic_cast<const nlohmann::json::exception*>(&error) != nullptr;
  Death death;
  death.kind = Death::Kind::garbled;
  death.how = is_message ? "it sent an answer of an unexpected form: " : "it sent ";
  death.how += error.what();
  return death;
}

void Conversation::start(const std::string& environment) {
  current_work_ = {Activity::start, nullptr};
  const auto found = context_.options.pythons.find(environment);
  const std::string python = found == context_.options.pythons.end() ? "python3" : found->second;
  worker_ = context_.workers.start_worker(
      {python, context_.options.worker_main, "--fd", "3", "--parent", std::to_string(::getpid())},
      context_.options.timeout_s);
}

void Conversation::send(const nlohmann::json& request, Activity activity, Task* task) {
  current_work_ = {activity, task};
  worker_->send(request);
}

Reply Conversation::request(const nlohmann::json& message, Activity activity, Task* task) {
  // Checked here too, because no wait would check it if workers answer at once.
  throw_if_stopped();
  send(message, activity, task);
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
      throw ProtocolError("a second greeting");
    }
    throw_if_stopped();
    wait({&only, 1}, 1.0);
    context_.progress.tick();
  }
}

void Conversation::drop(Task& task) {
  task.prepared = false;
  request(drop_request(task), Activity::drop, &task);
}

std::optional<nlohmann::json> Conversation::poll() {
  std::optional<Answer> answer = worker_->poll();
  if (!answer) return std::nullopt;
  if (const Death* death = std::get_if<Death>(&*answer)) throw Died{*death};
  return std::get<nlohmann::json>(std::move(*answer));
}

nlohmann::json Conversation::wait_for_message() {
  Worker* const only = worker_.get();
  while (true) {
    if (std::optional<nlohmann::json> message = poll()) return std::move(*message);
    throw_if_stopped();
    wait({&only, 1}, 1.0);
    context_.progress.tick();
  }
}

void Conversation::dismiss() {
  context_.workers.dismiss(std::move(worker_));
}

}  // namespace dlbench::supervisor
