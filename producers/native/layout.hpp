#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "dtype.hpp"

namespace dlbench::native {

/// The layout of an array around its first element. Sizes are in elements, strides in bytes.
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

  /// Distance in bytes from the first element to the lowest one, zero or negative.
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

  /// Why the layout is impossible, or null; without strides it checks only the shape. For foreign
  /// descriptions, before they are used.
  const char* flaw() const {
    if (shape.size() > kMostDimensions) return "it has more than 64 dimensions";
    std::intptr_t bytes = dtype->bytes, reached = dtype->bytes;
    for (const std::intptr_t size : shape) {
      if (size < 0) return "its shape has a negative extent";
      if (__builtin_mul_overflow(bytes, std::max<std::intptr_t>(size, 1), &bytes)) return kTooFar;
    }
    for (std::size_t i = 0; i < strides.size(); ++i) {
      if (shape[i] <= 1) continue;
      std::intptr_t way = 0;
      if (__builtin_mul_overflow(strides[i], shape[i] - 1, &way)) return kTooFar;
      if (way < 0 && __builtin_sub_overflow(std::intptr_t{0}, way, &way)) return kTooFar;
      if (__builtin_add_overflow(reached, way, &reached)) return kTooFar;
    }
    return nullptr;
  }

  /// Copies a foreign description with strides (null: C order) in units of `unit` bytes. Returns
  /// the flaw, or null.
  template <typename Integer>
  const char* assign(int ndim, const Integer* sizes, const Integer* steps, std::intptr_t unit) {
    if (ndim < 0 || static_cast<std::size_t>(ndim) > kMostDimensions) {
      return "its number of dimensions is not within 0..64";
    }
    if (ndim > 0 && sizes == nullptr) return "its shape is null";
    shape.assign(sizes, sizes + ndim);
    strides.clear();
    for (int i = 0; steps != nullptr && i < ndim; ++i) {
      // With at most one element the strides have no meaning.
      const bool overflows = __builtin_mul_overflow(steps[i], unit, &strides.emplace_back());
      if (overflows && sizes[i] > 1) return kTooFar;
    }
    const char* const found = flaw();
    if (found == nullptr && steps == nullptr) set_c_strides();
    return found;
  }

  /// Copies the elements in C order, without gaps. Returns the end of the copy.
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
  static constexpr std::size_t kMostDimensions = 64;
  static constexpr const char* kTooFar = "it spans more than the address space";

  std::intptr_t reach(int sign) const {
    if (elements() == 0) return 0;
    std::intptr_t sum = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if ((strides[i] < 0) == (sign < 0)) sum += strides[i] * (shape[i] - 1);
    }
    return sum;
  }
};

}  // namespace dlbench::native
