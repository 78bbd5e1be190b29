#include "exchange/guard/heap.hpp"

#include <dlfcn.h>

#include <cstdlib>

namespace dlbench::exchange {
namespace {

/// glibc's `struct mallinfo2`, which the older glibc of wheel builds does not declare.
struct HeapInfo {
  std::size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};
using ReadHeap = HeapInfo();

}  // namespace

std::optional<std::size_t> heap_bytes() {
#if defined(__GLIBC__)
  static const auto read_heap = reinterpret_cast<ReadHeap*>(::dlsym(RTLD_DEFAULT, "mallinfo2"));
  if (read_heap == nullptr) return std::nullopt;
  const HeapInfo info = read_heap();
  return info.uordblks + info.hblkhd;
#else
  return std::nullopt;
#endif
}

void raise_heap_thresholds() {
#if defined(__GLIBC__)
  // A block above glibc's largest threshold, 32 MiB, changes nothing. malloc adds a header and
  // rounds up to whole pages, which have up to 64 KiB.
  constexpr std::size_t kLargest = (std::size_t{32} << 20) - (std::size_t{64} << 10);
  void* volatile block = std::malloc(kLargest);  // volatile, so that the pair is not optimized away
  std::free(block);
#endif
}

}  // namespace dlbench::exchange
