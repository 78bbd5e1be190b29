#include "worker/judge/growth.hpp"

#include <algorithm>

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include "worker/base/py.hpp"

namespace dlbench::worker {
namespace {

// Less than any struct of DLPack's with what malloc adds to it.
constexpr double kLeast = 16;
constexpr int kBlocks = 3;

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
constexpr bool kTold = true;
double heap_bytes() {
  const struct mallinfo2 info = ::mallinfo2();
  return static_cast<double>(info.uordblks) + static_cast<double>(info.hblkhd);
}
#else
constexpr bool kTold = false;
double heap_bytes() {
  return 0;
}
#endif

}  // namespace

double bytes_left_behind(measure::Body body, std::uint64_t calls) {
  if (!kTold || calls == 0) return 0;
  double least = 0;
  for (int block = 0; block < kBlocks; ++block) {
    const double before = heap_bytes();
    if (body.run(body.self, calls) != calls) {
      PyErr_Clear();
      return 0;
    }
    const double each = (heap_bytes() - before) / static_cast<double>(calls);
    if (each < kLeast) return 0;
    least = block == 0 ? each : std::min(least, each);
  }
  return least;
}

}  // namespace dlbench::worker
