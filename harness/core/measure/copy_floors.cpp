#include "measure/copy_floors.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <new>

namespace dlbench::measure {
namespace {

/// Small blocks are copied this many bytes at a time, because a copy is as short as a clock.
constexpr std::size_t kLeastBytes = 1 << 20;

/// Owns newly mapped pages, because an allocator may reuse pages that were written before.
class Pages {
 public:
  explicit Pages(std::size_t bytes)
      : bytes_(bytes),
        start_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (start_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~Pages() { ::munmap(start_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  void* get() const { return start_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
  void* start_;
};

double copied_gb_per_s(const Pages& to, const Pages& from, std::size_t times) {
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < times; ++i) {
    std::memcpy(to.get(), from.get(), from.bytes());
    asm volatile("" : : "r"(to.get()) : "memory");
  }
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  return static_cast<double>(from.bytes() * times) / took.count();
}

}  // namespace

CopyFloors copy_floors(std::size_t bytes) {
  constexpr int kWarmCopies = 5;
  constexpr int kFreshCopies = 2;
  const Pages source(bytes);
  std::memset(source.get(), 1, bytes);
  CopyFloors best;
  for (int i = 0; i < kFreshCopies; ++i) {
    const Pages target(bytes);
    best.fresh_gb_per_s = std::max(best.fresh_gb_per_s, copied_gb_per_s(target, source, 1));
    if (i + 1 < kFreshCopies) continue;
    for (int warm = 0; warm < kWarmCopies; ++warm) {
      const std::size_t times = std::max<std::size_t>(1, kLeastBytes / bytes);
      best.warm_gb_per_s = std::max(best.warm_gb_per_s, copied_gb_per_s(target, source, times));
    }
  }
  return best;
}

}  // namespace dlbench::measure
