#pragma once

#include <cstddef>
#include <cstring>

#include "check/tensors/python.hpp"

namespace dlbench::check {

/// Bytes that several borrowed tensors may share. poison() overwrites them.
struct Bytes {
  static constexpr std::size_t kAlignment = 4096;
  static constexpr int kPoison = 0xDD;

  struct Free {
    void operator()(std::byte* place) const {
      ::operator delete(place, std::align_val_t(kAlignment));
    }
  };
  std::unique_ptr<std::byte, Free> place;
  std::size_t size = 0;

  explicit Bytes(std::size_t count)
      : place(static_cast<std::byte*>(
            ::operator new(count + kAlignment, std::align_val_t(kAlignment)))),
        size(count) {}
  void poison() { std::memset(place.get(), kPoison, size); }
};

/// The Python object Memory(content, offset=0).
struct Memory {
  PyObject ob_base;
  std::shared_ptr<Bytes> bytes;
  std::size_t offset;
};

extern PyTypeObject memory_type;
bool ready_memory_type();

inline Memory& memory_of(PyObject* object) {
  return *reinterpret_cast<Memory*>(object);
}

}  // namespace dlbench::check
