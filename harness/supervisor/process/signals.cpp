#include "supervisor/process/signals.hpp"

namespace dlbench::supervisor {
namespace {

volatile sig_atomic_t g_caught = 0;

void remember(int number) {
  if (g_caught == 0) g_caught = number;
}

}  // namespace

Signals::Signals() {
  g_caught = 0;
  struct sigaction action {};
  ::sigemptyset(&action.sa_mask);
  action.sa_handler = remember;
  ::sigaction(SIGINT, &action, &interrupt_);
  ::sigaction(SIGTERM, &action, &terminate_);
  ::sigaction(SIGHUP, &action, &hang_up_);
  // A program under nohup continues without its terminal.
  if (hang_up_.sa_handler == SIG_IGN) ::sigaction(SIGHUP, &hang_up_, nullptr);
  action.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &action, &child_);
}

Signals::~Signals() {
  ::sigaction(SIGINT, &interrupt_, nullptr);
  ::sigaction(SIGTERM, &terminate_, nullptr);
  ::sigaction(SIGHUP, &hang_up_, nullptr);
  ::sigaction(SIGCHLD, &child_, nullptr);
}

int Signals::caught() {
  return g_caught;
}

}  // namespace dlbench::supervisor
