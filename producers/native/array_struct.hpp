#pragma once

#include <cstdint>

namespace dlbench::native {

/// The content of an `__array_struct__` capsule: NumPy's PyArrayInterface. Sizes are in elements,
/// strides in bytes; intp is a Py_ssize_t.
struct ArrayStruct {
  int two = 2;
  int ndim = 0;
  char kind = 0;
  int itemsize = 0;
  int flags = 0;
  std::intptr_t* shape = nullptr;
  std::intptr_t* strides = nullptr;
  void* data = nullptr;
  void* descr = nullptr;
};

inline constexpr int kCContiguous = 0x1;
inline constexpr int kFContiguous = 0x2;
inline constexpr int kAligned = 0x100;
inline constexpr int kNotSwapped = 0x200;
inline constexpr int kWriteable = 0x400;

}  // namespace dlbench::native
