#pragma once

#include <chrono>
#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace dlbench::worker {

inline double ns_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

/// Ticks of the cheapest clock with a constant rate. Each block calibrates the length of a tick:
/// its wall time divided by its ticks.
class Stamps {
 public:
  /// Does the processor's time-stamp counter run at a constant rate, independent of the core's
  /// clock?
  static bool has_invariant_counter() {
#if defined(__x86_64__)
    static const bool invariant = [] {
      unsigned a = 0, b = 0, c = 0, d = 0;
      return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1U << 8)) != 0;
    }();
    return invariant;
#else
    return false;
#endif
  }

  /// The cost of a stamp alone, in ns. Within other code it is lower, because the processor
  /// overlaps them.
  static double alone_ns();

  struct Counter {
    static std::uint64_t now() {
#if defined(__x86_64__)
      unsigned core = 0;
      return __rdtscp(&core);  // waits for all earlier instructions
#else
      return 0;
#endif
    }
  };

  struct Steady {
    static std::uint64_t now() {
      return static_cast<std::uint64_t>(
          std::chrono::steady_clock::now().time_since_epoch().count());
    }
  };
};

}  // namespace dlbench::worker
