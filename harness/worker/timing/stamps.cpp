#include "worker/timing/stamps.hpp"

#include <algorithm>

namespace dlbench::worker {
namespace {

template <typename Stamp>
double measured_alone_ns() {
  constexpr int kStamps = 500;
  double least = 0;
  for (int block = 0; block < 3; ++block) {
    const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kStamps; ++i) {
      const std::uint64_t now = Stamp::now();
      asm volatile("" : : "r"(now));
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    least = block == 0 ? took.count() / kStamps : std::min(least, took.count() / kStamps);
  }
  return least;
}

}  // namespace

double Stamps::alone_ns() {
  return has_invariant_counter() ? measured_alone_ns<Counter>() : measured_alone_ns<Steady>();
}

}  // namespace dlbench::worker
