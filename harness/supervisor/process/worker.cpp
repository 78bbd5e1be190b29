#include "supervisor/process/worker.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "supervisor/process/memory.hpp"

namespace dlbench::supervisor {
namespace {

constexpr std::size_t kTailLines = 40;

// The kernel closes the files of a dying process just before the process ends.
constexpr double kExitWait = 1.0;

/// Has the kernel killed a process because memory ran out since the last call?
bool memory_ran_out() {
  static std::atomic<std::uint64_t> before = 0;
  const std::uint64_t now = oom_kills();
  return before.exchange(now) < now;
}

}  // namespace

double now_s() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

Worker::Worker(const Command& command, double timeout_s, Limits limits)
    : timeout_s_(timeout_s),
      child_(command),
      channel_(child_.socket(), limits),
      deadline_(now_s() + timeout_s) {
  static const bool counted = memory_ran_out();
  static_cast<void>(counted);
}

void Worker::send(const nlohmann::json& request) {
  if (unanswered_++ > 0) {
    channel_.send(request);
    return;
  }
  step_.reset();
  deadline_ = now_s() + timeout_s_;
  idle_loss_ = ended() || !channel_.send(request);
}

void Worker::stop() {
  if (!std::exchange(stopped_, true)) child_.signal(SIGSTOP);
}

void Worker::resume() {
  if (std::exchange(stopped_, false)) child_.signal(SIGCONT);
}

void Worker::request_end() {
  resume();
  channel_.send({{"do", "end"}});
}

void Worker::finish(const nlohmann::json& request) {
  resume();
  step_.reset();
  channel_.send(request);
  deadline_ = now_s() + timeout_s_;
  finishing_ = true;
}

std::optional<Answer> Worker::poll() {
  try {
    if (auto answer = next_answer()) return std::move(*answer);
    child_.drain();
    wire_open_ = channel_.fill();
    if (auto answer = next_answer()) return std::move(*answer);
    if (ended() || (!wire_open_ && !finishing_)) {
      // It may have replied just before it ended.
      for (int bite = 0; wire_open_ && bite < 256; ++bite) {
        wire_open_ = channel_.fill();
        if (auto answer = next_answer()) return std::move(*answer);
      }
      return reap();
    }
  } catch (const ProtocolError& error) {
    return kill(Death::Kind::garbled, std::string("it sent ") + error.what());
  }
  if ((waiting() || finishing_) && now_s() > deadline_) return kill(Death::Kind::timed_out, "");
  return std::nullopt;
}

std::optional<nlohmann::json> Worker::next_answer() {
  while (auto message = channel_.next()) {
    if (message->contains("step") && (*message)["step"].is_string()) {
      step_ = step_from((*message)["step"].get<std::string>());
      continue;
    }
    const bool known =
        message->contains("ok") || message->contains("error") || message->contains("hello");
    if (!known || unanswered_ == 0)
      throw ProtocolError("a message that is not an answer: " + presentable(message->dump(), 80));
    --unanswered_;
    idle_loss_ = false;
    step_.reset();
    deadline_ = now_s() + timeout_s_;
    return message;
  }
  return std::nullopt;
}

Death Worker::reap() {
  const double patience = now_s() + kExitWait;
  while (!ended() && now_s() < patience) {
    child_.drain();
    ::usleep(1000);
  }
  if (!ended()) return kill(Death::Kind::garbled, "it closed its end of the wire");
  Death death;
  const int status = child_.end();
  death.how = how_ended(status);
  death.exit_status = exit_status(status);
  if (WIFSIGNALED(status)) {
    death.signal = death.how;
    if (WTERMSIG(status) == SIGKILL && memory_ran_out()) death.kind = Death::Kind::out_of_memory;
  }
  finish(death);
  return death;
}

Death Worker::kill(Death::Kind kind, const std::string& how) {
  Death death;
  death.exit_status = exit_status(child_.end());
  death.kind = kind;
  death.how = how;
  finish(death);
  return death;
}

void Worker::finish(Death& death) {
  child_.drain_rest();
  death.step = step_;
  death.stdout_tail = presentable(child_.out().last_lines(kTailLines));
  death.stderr_tail = presentable(child_.err().last_lines(kTailLines));
  death.idle = idle_loss_;
  unanswered_ = 0;
}

void wait(std::span<Worker* const> workers, double most_s) {
  std::vector<pollfd> fds;
  double until = std::min(most_s, kPollInterval);
  for (const Worker* worker : workers) {
    if (worker->wire_open_) fds.push_back({worker->child_.socket(), POLLIN, 0});
    worker->child_.add_streams(fds);
    if (worker->waiting()) until = std::min(until, worker->deadline_ - now_s());
  }
  const int milliseconds = static_cast<int>(std::max(0.0, until) * 1000) + 1;
  ::poll(fds.data(), fds.size(), milliseconds);
}

}  // namespace dlbench::supervisor
