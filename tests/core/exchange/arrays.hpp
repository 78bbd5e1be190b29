#pragma once

#include <dlpack/dlpack.h>

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "exchange/layout.hpp"
#include "exchange/view.hpp"

namespace dlbench::exchange {

/// Memory of T with a View upon it.
template <typename T>
struct Array {
  Array(std::vector<T> values, Dtype dtype, std::vector<std::int64_t> shape)
      : memory(std::move(values)) {
    view.address = reinterpret_cast<std::uintptr_t>(memory.data());
    view.dtype = dtype;
    view.shape = std::move(shape);
    view.strides = c_strides(view.shape, view.element_bytes());
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  std::vector<T> memory;
  View view;
};

template <typename T>
Array<T> array(const char* dtype, std::vector<T> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return Array<T>(std::move(values), dtype_from_name(dtype), {count});
}

}  // namespace dlbench::exchange
