#include "worker/timing/watch.hpp"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

namespace dlbench::worker {
namespace {

long preemptions() {
  rusage used{};
  return ::getrusage(RUSAGE_THREAD, &used) == 0 ? used.ru_nivcsw : 0;
}

/// A chain of dependent operations: its time depends only on the clock rate and on the load of the
/// other hyperthread.
double canary_once() {
  constexpr int kSteps = 1500;
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t state = 1;
  for (int i = 0; i < kSteps; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    asm volatile("" : "+r"(state));
  }
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  return took.count();
}

/// The minimum of three, so that an interrupt does not appear as a slow core. Takes some
/// microseconds.
double canary() {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) least = std::min(least, canary_once());
  return least;
}

}  // namespace

Watch::Watch() : core_(::sched_getcpu()), preempted_(preemptions()) {}

Disturbance Watch::end() const {
  const bool moved = ::sched_getcpu() != core_;
  return {moved, preemptions() - preempted_, canary()};
}

}  // namespace dlbench::worker
