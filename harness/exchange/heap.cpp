#include "exchange/heap.hpp"

#include <dlfcn.h>

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

}  // namespace dlbench::exchange
