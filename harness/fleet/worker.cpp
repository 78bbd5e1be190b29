#include "fleet/worker.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include "fleet/memory.hpp"

namespace dlbench::fleet {
namespace {

// A grandchild may hold the socket open, so the end of a worker is also looked for, not only heard.
constexpr double kLookAgain = 0.05;

// The kernel closes a dying process's files just before it lets go of it.
constexpr double kLastBreath = 1.0;

/// Has the kernel killed for want of memory since the last time that it was asked?
bool memory_ran_out() {
  static std::uint64_t before = 0;
  const std::uint64_t now = oom_kills();
  return std::exchange(before, now) < now;
}

}  // namespace

double now_s() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

Worker::Worker(const std::vector<std::string>& command, const std::string& mark, double timeout_s)
    : mark_(mark),
      timeout_s_(timeout_s),
      child_(command, mark),
      channel_(child_.socket()),
      out_{child_.out(), Tail()},
      err_{child_.err(), Tail()},
      deadline_(now_s() + timeout_s) {
  static const bool counted = memory_ran_out();
  static_cast<void>(counted);
}

void Worker::ask(const nlohmann::json& request) {
  if (owed_++ > 0) {
    channel_.send(request);
    return;
  }
  step_.clear();
  deadline_ = now_s() + timeout_s_;
  idle_loss_ = child_.ended() || !channel_.send(request);
}

void Worker::stop() {
  if (!std::exchange(stopped_, true)) child_.signal(SIGSTOP);
}

void Worker::resume() {
  if (std::exchange(stopped_, false)) child_.signal(SIGCONT);
}

void Worker::say_end() {
  resume();
  channel_.send({{"do", "end"}});
}

std::optional<Answer> Worker::poll() {
  try {
    if (auto answer = next_answer()) return std::move(*answer);
    drain(out_);
    drain(err_);
    bool open = channel_.fill();
    if (auto answer = next_answer()) return std::move(*answer);
    const bool over = child_.ended();
    if (over || !open) {
      // It may have answered just before it went.
      for (int bite = 0; open && bite < 256; ++bite) {
        open = channel_.fill();
        if (auto answer = next_answer()) return std::move(*answer);
      }
      return gone();
    }
  } catch (const Garbage& garbage) {
    return killed(Death::Kind::crashed, std::string("it sent ") + garbage.what());
  }
  if (waiting() && now_s() > deadline_) return killed(Death::Kind::timed_out, "");
  return std::nullopt;
}

std::optional<nlohmann::json> Worker::next_answer() {
  while (auto message = channel_.next()) {
    if (message->contains("step") && (*message)["step"].is_string()) {
      step_ = (*message)["step"].get<std::string>();
      continue;
    }
    const bool known =
        message->contains("ok") || message->contains("error") || message->contains("hello");
    if (!known || owed_ == 0)
      throw Garbage("what nobody asked for: " + presentable(message->dump(), 80));
    --owed_;
    idle_loss_ = false;
    step_.clear();
    deadline_ = now_s() + timeout_s_;
    return message;
  }
  return std::nullopt;
}

/// Takes what is there, a bite at a time. False at the end of the stream or where nothing is.
bool Worker::drain(Pipe& pipe) {
  if (!pipe.open) return false;
  std::array<char, std::size_t{64} << 10> block;
  const ssize_t count = ::read(pipe.fd, block.data(), block.size());
  if (count == 0) pipe.open = false;
  if (count <= 0) return false;
  pipe.tail.append({block.data(), static_cast<std::size_t>(count)});
  return true;
}

Death Worker::gone() {
  const double patience = now_s() + kLastBreath;
  while (!child_.ended() && now_s() < patience) {
    drain(err_);
    drain(out_);
    ::usleep(1000);
  }
  if (!child_.ended()) return killed(Death::Kind::crashed, "it closed its end of the wire");
  Death death;
  const int status = child_.end();
  death.how = how_ended(status);
  if (WIFSIGNALED(status)) {
    death.signal = death.how;
    if (WTERMSIG(status) == SIGKILL && memory_ran_out()) death.kind = Death::Kind::out_of_memory;
  }
  finish(death);
  return death;
}

Death Worker::killed(Death::Kind kind, const std::string& how) {
  child_.end();
  Death death;
  death.kind = kind;
  death.how = how;
  finish(death);
  return death;
}

void Worker::finish(Death& death) {
  // Bounded: a grandchild may hold the other end and write for ever.
  for (int bite = 0; bite < 64 && drain(err_); ++bite) {
  }
  death.step = step_;
  death.stderr_tail = presentable(err_.tail.last_lines(40));
  death.idle = idle_loss_;
  owed_ = 0;
}

void wait(std::span<Worker* const> workers, double most_s) {
  std::vector<pollfd> fds;
  double until = std::min(most_s, kLookAgain);
  for (const Worker* worker : workers) {
    fds.push_back({worker->child_.socket(), POLLIN, 0});
    for (const Worker::Pipe* pipe : {&worker->out_, &worker->err_}) {
      if (pipe->open) fds.push_back({pipe->fd, POLLIN, 0});
    }
    if (worker->waiting()) until = std::min(until, worker->deadline_ - now_s());
  }
  const int milliseconds = static_cast<int>(std::max(0.0, until) * 1000) + 1;
  ::poll(fds.data(), fds.size(), milliseconds);
}

}  // namespace dlbench::fleet
