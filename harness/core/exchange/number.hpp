#pragma once

#include <cstdint>
#include <string>

#include "exchange/view.hpp"

namespace dlbench::exchange {

/// The value of an element of any dtype.
struct Number {
  /// `negative` and `magnitude` hold the value, because a double would round an int64.
  bool integral = false;
  bool negative = false;
  std::uint64_t magnitude = 0;
  double re = 0;
  double im = 0;
};

/// Can number_at() decode the dtype?
bool has_numbers(Dtype dtype);

/// Decodes the element at a host address. Requires has_numbers(dtype).
Number number_at(std::uintptr_t address, Dtype dtype);

/// Are the numbers equal? NaN equals NaN, and zeros of different sign differ.
bool same(const Number& a, const Number& b);

/// Is `found` the value of `expected` in `found_dtype`: the same number, or one of the two nearest
/// if the dtype cannot represent it?
bool explained(const Number& expected, const Number& found, Dtype found_dtype);

std::string to_string(const Number& number, Dtype dtype);

}  // namespace dlbench::exchange
