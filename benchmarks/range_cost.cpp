// Prints the ns of a range around nothing, made as in a worker. If NVTX_INJECTION64_PATH names a
// tool, that tool is attached.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "trace/nvtx.hpp"
#include "trace/range.hpp"

namespace {

constexpr std::uint64_t kRanges = 20'000;
constexpr int kRounds = 501;

template <typename Once>
double median_ns(Once once) {
  std::vector<double> rounds;
  for (int round = 0; round < kRounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < kRanges; ++i) {
      once(i);
      asm volatile("" : : : "memory");
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    rounds.push_back(took.count() / static_cast<double>(kRanges));
  }
  std::nth_element(rounds.begin(), rounds.begin() + kRounds / 2, rounds.end());
  return rounds[kRounds / 2];
}

}  // namespace

int main() {
  using dlbench::trace::Category;
  using dlbench::trace::Range;
  const bool attached = dlbench::trace::nvtx::attach();
  const dlbench::trace::Name& name = dlbench::trace::named("exchange", Category::exchange);
  const double empty = median_ns([](std::uint64_t) {});
  const double range = median_ns([&](std::uint64_t i) { const Range one(name, i); });
  std::printf("%d %.3f %.3f\n", attached ? 1 : 0, empty, range);
}
