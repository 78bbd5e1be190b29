#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "dtype.hpp"

namespace dlbench::native {

/// How an array lies around its first element. Sizes in elements, strides in bytes.
struct Layout {
  const Dtype* dtype = nullptr;
  std::vector<std::intptr_t> shape;
  std::vector<std::intptr_t> strides;
  bool readonly = false;

  std::intptr_t elements() const {
    std::intptr_t count = 1;
    for (const std::intptr_t size : shape) count *= size;
    return count;
  }

  /// Bytes before the first element, as a number that is zero or negative.
  std::intptr_t low() const { return reach(-1); }
  /// Bytes from the first element to the end of the last one.
  std::intptr_t high() const { return elements() == 0 ? 0 : reach(1) + dtype->bytes; }

  bool is_c_contiguous() const {
    std::intptr_t step = dtype->bytes;
    for (std::size_t i = shape.size(); i-- > 0; step *= shape[i]) {
      if (shape[i] != 1 && strides[i] != step && elements() > 0) return false;
    }
    return true;
  }

  bool is_f_contiguous() const {
    Layout reversed = *this;
    std::ranges::reverse(reversed.shape);
    std::ranges::reverse(reversed.strides);
    return reversed.is_c_contiguous();
  }

  void set_c_strides() {
    strides.assign(shape.size(), dtype->bytes);
    for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  }

  /// Copies the elements in C order, without gaps. Returns where the copy ends.
  std::byte* pack(const std::byte* source, std::byte* to, std::size_t axis = 0) const {
    if (axis == shape.size()) {
      std::memcpy(to, source, dtype->bytes);
      return to + dtype->bytes;
    }
    for (std::intptr_t i = 0; i < shape[axis]; ++i) {
      to = pack(source + i * strides[axis], to, axis + 1);
    }
    return to;
  }

 private:
  std::intptr_t reach(int sign) const {
    if (elements() == 0) return 0;
    std::intptr_t sum = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (strides[i] * sign > 0) sum += strides[i] * (shape[i] - 1);
    }
    return sum;
  }
};

}  // namespace dlbench::native
