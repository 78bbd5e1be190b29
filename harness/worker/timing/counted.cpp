#include "worker/timing/counted.hpp"

#ifdef DLBENCH_CALLGRIND_H
#include <valgrind/callgrind.h>
#endif

// Callgrind finds it by its name in the symbol table, so it is exported and never inlined or
// cloned.
extern "C" __attribute__((visibility("default"), noinline, used)) std::uint64_t dlbench_counted(
    std::uint64_t (*run)(void*, std::uint64_t), void* self, std::uint64_t times) {
  const std::uint64_t done = run(self, times);
  asm volatile("" : : : "memory");  // a call, not a jump
  return done;
}

namespace dlbench::worker {

bool has_callgrind_requests() {
#ifdef DLBENCH_CALLGRIND_H
  return true;
#else
  return false;
#endif
}

bool under_valgrind() {
#ifdef DLBENCH_CALLGRIND_H
  return RUNNING_ON_VALGRIND != 0;
#else
  return false;
#endif
}

// Each start of the instrumentation begins with the same empty state of callgrind.
bool counted(measure::Body body, std::uint64_t iterations) {
#ifdef DLBENCH_CALLGRIND_H
  CALLGRIND_START_INSTRUMENTATION;
#endif
  const bool whole = dlbench_counted(body.run, body.self, iterations) == iterations;
#ifdef DLBENCH_CALLGRIND_H
  CALLGRIND_STOP_INSTRUMENTATION;
#endif
  return whole;
}

}  // namespace dlbench::worker
