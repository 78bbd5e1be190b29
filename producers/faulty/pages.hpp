#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

#include "../native/block.hpp"

namespace dlbench::faulty {

/// Memory that can be mapped more than once.
class Pages {
 public:
  explicit Pages(std::size_t size) : file_(::memfd_create("dlbench-faulty", MFD_CLOEXEC)) {
    if (file_ < 0 || ::ftruncate(file_, static_cast<off_t>(size)) != 0) fail(*this);
    size_ = size;
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() {
    if (file_ >= 0) ::close(file_);
  }

  /// `sharing` is MAP_SHARED, or MAP_PRIVATE, which is copied on write.
  std::byte* map(int sharing) const {
    void* place = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, sharing, file_, 0);
    if (place == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    return static_cast<std::byte*>(place);
  }
  void unmap(std::byte* place) const { ::munmap(place, size_); }

 private:
  [[noreturn]] static void fail(Pages& half) {
    const int error = errno;
    if (half.file_ >= 0) ::close(half.file_);
    throw std::system_error(error, std::generic_category(), "memfd");
  }

  int file_;
  std::size_t size_ = 0;
};

/// One mapping of the pages, as a managed tensor for a Block.
struct Mapping {
  DLManagedTensorVersioned managed;
  std::shared_ptr<Pages> pages;
  std::byte* place;

  static void unmap(DLManagedTensorVersioned* managed) {
    const std::unique_ptr<Mapping> gone(static_cast<Mapping*>(managed->manager_ctx));
    gone->pages->unmap(gone->place);
  }
};

/// A new mapping of the pages. The lowest byte of the array is `residue` bytes after its start.
inline native::Block::Owner map_block(native::Layout layout, std::shared_ptr<Pages> pages,
                                      std::size_t residue, int sharing) {
  auto mapping = std::make_unique<Mapping>();
  mapping->place = pages->map(sharing);
  mapping->pages = std::move(pages);
  mapping->managed.manager_ctx = mapping.get();
  mapping->managed.deleter = &Mapping::unmap;
  mapping->managed.dl_tensor.data = mapping->place + residue - layout.low();
  mapping->managed.dl_tensor.byte_offset = 0;
  mapping->managed.dl_tensor.device = {kDLCPU, 0};
  return native::Block::around(std::move(layout), &mapping.release()->managed);
}

}  // namespace dlbench::faulty
