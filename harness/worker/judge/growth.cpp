#include "worker/judge/growth.hpp"

#include <algorithm>

#include "exchange/heap.hpp"
#include "worker/base/py.hpp"

namespace dlbench::worker {
namespace {

// Less than any struct of DLPack's with what malloc adds to it.
constexpr double kLeast = 16;
constexpr int kBlocks = 3;

}  // namespace

double bytes_left_behind(measure::Body body, std::uint64_t calls) {
  if (calls == 0 || !exchange::heap_bytes()) return 0;
  double least = 0;
  for (int block = 0; block < kBlocks; ++block) {
    const auto before = static_cast<double>(*exchange::heap_bytes());
    if (body.run(body.self, calls) != calls) {
      PyErr_Clear();
      return 0;
    }
    const double grown = static_cast<double>(*exchange::heap_bytes()) - before;
    const double each = grown / static_cast<double>(calls);
    if (each < kLeast) return 0;
    least = block == 0 ? each : std::min(least, each);
  }
  return least;
}

}  // namespace dlbench::worker
