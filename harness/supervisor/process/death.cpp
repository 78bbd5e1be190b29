#include "supervisor/process/death.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

namespace dlbench::supervisor {
namespace {

constexpr std::array<std::pair<int, const char*>, 17> kSignals{{
    {SIGHUP, "SIGHUP"},
    {SIGINT, "SIGINT"},
    {SIGQUIT, "SIGQUIT"},
    {SIGILL, "SIGILL"},
    {SIGTRAP, "SIGTRAP"},
    {SIGABRT, "SIGABRT"},
    {SIGBUS, "SIGBUS"},
    {SIGFPE, "SIGFPE"},
    {SIGKILL, "SIGKILL"},
    {SIGUSR1, "SIGUSR1"},
    {SIGSEGV, "SIGSEGV"},
    {SIGUSR2, "SIGUSR2"},
    {SIGPIPE, "SIGPIPE"},
    {SIGALRM, "SIGALRM"},
    {SIGTERM, "SIGTERM"},
    {SIGXCPU, "SIGXCPU"},
    {SIGSYS, "SIGSYS"},
}};

std::string seconds(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g s", value);
  return text.data();
}

}  // namespace

std::string signal_name(int number) {
  for (const auto& [value, name] : kSignals) {
    if (value == number) return name;
  }
  return "signal " + std::to_string(number);
}

std::string how_ended(int wait_status) {
  if (WIFSIGNALED(wait_status)) return signal_name(WTERMSIG(wait_status));
  return "it ended with status " + std::to_string(WEXITSTATUS(wait_status));
}

int exit_status(int wait_status) {
  return WIFSIGNALED(wait_status) ? -WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

Failure explain_death(const Death& death, const std::string& activity, double timeout_s) {
  Failure made{Outcome::crashed};
  made.signal = death.signal;
  made.stderr_tail = death.stderr_tail;
  switch (death.kind) {
    case Death::Kind::crashed:
    case Death::Kind::garbled:
      made.reason = "crashed while " + activity + ": " + death.how;
      break;
    case Death::Kind::timed_out:
      made.outcome = Outcome::timed_out;
      made.reason = "no answer within " + seconds(timeout_s) + " (--timeout) while " + activity;
      break;
    case Death::Kind::out_of_memory:
      made.outcome = Outcome::out_of_memory;
      made.reason = "killed because memory ran out while " + activity;
      break;
  }
  return made;
}

std::string presentable(std::string_view text, std::size_t most) {
  if (text.size() > most) {
    text.remove_prefix(text.size() - most);
    while (!text.empty() && (static_cast<unsigned char>(text.front()) & 0xC0U) == 0x80U) {
      text.remove_prefix(1);
    }
  }
  using nlohmann::json;
  return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace))
      .get<std::string>();
}

}  // namespace dlbench::supervisor
