#include "worker/timing/watch.hpp"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>

namespace dlbench::worker {
namespace {

long preemptions() {
  rusage used{};
  return ::getrusage(RUSAGE_THREAD, &used) == 0 ? used.ru_nivcsw : 0;
}

/// Chains of additions that do not depend on each other and use all that the core can execute at
/// once. They take longer at a lower clock rate, and up to twice as long while another thread, of
/// this machine or of another virtual one, runs on the core's other hyperthread. A single chain
/// leaves room for that thread and would not show it.
double canary_once() {
  constexpr std::uint64_t kSteps = 1500;
  const auto begin = std::chrono::steady_clock::now();
  std::array<std::uint64_t, 6> sums{};
  for (std::uint64_t i = 0; i < kSteps; ++i) {
    for (std::uint64_t& sum : sums) {
      sum += i;
      asm volatile("" : "+r"(sum));
    }
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

Watch::Watch() : canary_ns_(canary()), core_(::sched_getcpu()), preempted_(preemptions()) {}

Disturbance Watch::end() const {
  const bool moved = ::sched_getcpu() != core_;
  const long preempted = preemptions() - preempted_;
  return {moved, preempted, std::max(canary_ns_, canary())};
}

}  // namespace dlbench::worker
