#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "exchange/guard/maps.hpp"

namespace dlbench::exchange::testing {

inline constexpr std::size_t kPages = 64;

inline std::size_t page() {
  return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// Separate pages, readable and writable by default.
class Memory {
 public:
  explicit Memory(std::size_t pages = kPages, int protection = PROT_READ | PROT_WRITE,
                  int flags = MAP_PRIVATE | MAP_ANONYMOUS, int file = -1)
      : bytes_(pages * page()),
        start_(static_cast<unsigned char*>(::mmap(nullptr, bytes_, protection, flags, file, 0))) {
    // As arrays are: pages that are there. Mappings split before their first touch stay split.
    if (protection & PROT_WRITE) std::memset(start_, 1, bytes_);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { ::munmap(start_, bytes_); }

  std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(start_); }
  std::size_t bytes() const { return bytes_; }
  volatile unsigned char* page_at(std::size_t i) const { return start_ + i * page(); }
  int protection(std::size_t i = 0) const {
    const auto mappings = mappings_of(address() + i * page(), address() + (i + 1) * page());
    return mappings.size() == 1 ? mappings[0].protection : -1;
  }
  bool is_one_mapping() const { return mappings_of(address(), address() + bytes_).size() == 1; }
  unsigned char* start() const { return start_; }

 private:
  std::size_t bytes_;
  unsigned char* start_;
};

inline unsigned read_all(const Memory& memory) {
  unsigned sum = 0;
  for (std::size_t i = 0; i < memory.bytes() / page(); ++i) sum += *memory.page_at(i);
  return sum;
}

}  // namespace dlbench::exchange::testing
