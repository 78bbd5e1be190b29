#include "measure/copy_floors.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <new>

namespace dlbench::measure {
namespace {

constexpr std::size_t kBytes = 32 << 20;

/// Owns newly mapped pages, because an allocator may reuse pages that were written before.
class Pages {
 public:
  Pages()
      : start_(
            ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (start_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~Pages() { ::munmap(start_, kBytes); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  void* get() const { return start_; }

 private:
  void* start_;
};

double copied_gb_per_s(const Pages& to, const Pages& from) {
  const auto begin = std::chrono::steady_clock::now();
  std::memcpy(to.get(), from.get(), kBytes);
  asm volatile("" : : "r"(to.get()) : "memory");
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  return static_cast<double>(kBytes) / took.count();
}

}  // namespace

CopyFloors copy_floors() {
  constexpr int kWarmCopies = 5;
  constexpr int kFreshCopies = 2;
  const Pages source;
  std::memset(source.get(), 1, kBytes);
  CopyFloors best;
  for (int i = 0; i < kFreshCopies; ++i) {
    const Pages target;
    best.fresh_gb_per_s = std::max(best.fresh_gb_per_s, copied_gb_per_s(target, source));
    if (i + 1 < kFreshCopies) continue;
    for (int warm = 0; warm < kWarmCopies; ++warm) {
      best.warm_gb_per_s = std::max(best.warm_gb_per_s, copied_gb_per_s(target, source));
    }
  }
  return best;
}

}  // namespace dlbench::measure
