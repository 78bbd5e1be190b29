#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>

#include "exchange/guard/guard_state.hpp"

// The signal handler, which forwards other faults to the former handlers.
namespace dlbench::exchange::guard {
namespace {

// On other processors a write cannot be distinguished from a read.
#if defined(__x86_64__) || defined(__aarch64__)
constexpr bool kKnownProcessor = true;
#else
constexpr bool kKnownProcessor = false;
#endif

// The number of times that other code may replace this handler. A replacement that calls its
// predecessor reaches the level below, so that calls do not loop.
constexpr std::size_t kLevels = 4;
std::array<struct sigaction, kLevels> formers;
std::size_t levels = 0;

void die_by_default(int number, const siginfo_t* info, bool ignored) {
  const bool sent = info->si_code <= 0;
  if (sent && ignored) return;
  struct sigaction fallback {};
  fallback.sa_handler = SIG_DFL;
  ::sigaction(number, &fallback, nullptr);
  // A fault is repeated when the handler returns; a signal that was sent is not.
  if (sent) ::raise(number);
}

void forward(const struct sigaction& former, int number, siginfo_t* info, void* context) {
  if (!(former.sa_flags & SA_SIGINFO) &&
      (former.sa_handler == SIG_DFL || former.sa_handler == SIG_IGN)) {
    die_by_default(number, info, former.sa_handler == SIG_IGN);
    return;
  }
  sigset_t mask = former.sa_mask;
  if (!(former.sa_flags & SA_NODEFER)) sigaddset(&mask, number);
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, &mask, &before);
  if (former.sa_flags & SA_NODEFER) {
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, number);
    ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  }
  if (former.sa_flags & SA_SIGINFO) {
    former.sa_sigaction(number, info, context);
  } else {
    former.sa_handler(number);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

template <std::size_t Level>
void on_fault(int number, siginfo_t* info, void* context) {
  const int kept = errno;
  const bool ours = is_guarded(info, context);
  errno = kept;
  if (!ours) forward(formers[Level], number, info, context);
}

using Handler = void (*)(int, siginfo_t*, void*);
constexpr std::array<Handler, kLevels> kHandlers{on_fault<0>, on_fault<1>, on_fault<2>,
                                                 on_fault<3>};

bool same_handler(const struct sigaction& a, const struct sigaction& b) {
  return (a.sa_flags & SA_SIGINFO) == (b.sa_flags & SA_SIGINFO) &&
         (a.sa_flags & SA_SIGINFO ? a.sa_sigaction == b.sa_sigaction
                                  : a.sa_handler == b.sa_handler);
}

}  // namespace

void install_handler() {
  if (!kKnownProcessor) throw GuardError("the page guard supports only x86-64 and aarch64");
  struct sigaction current {};
  ::sigaction(SIGSEGV, nullptr, &current);
  const bool is_installed =
      (current.sa_flags & SA_SIGINFO) &&
      std::find(kHandlers.begin(), kHandlers.end(), current.sa_sigaction) != kHandlers.end();
  if (is_installed) return;
  std::size_t level = 0;
  while (level < levels && !same_handler(formers[level], current)) ++level;
  if (level == kLevels) throw GuardError("other code replaced the handler of SIGSEGV too often");
  formers[level] = current;
  levels = std::max(levels, level + 1);
  struct sigaction action {};
  action.sa_sigaction = kHandlers[level];
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigemptyset(&action.sa_mask);
  if (::sigaction(SIGSEGV, &action, nullptr) != 0) {
    throw GuardError("no handler for SIGSEGV can be installed");
  }
}

}  // namespace dlbench::exchange::guard
