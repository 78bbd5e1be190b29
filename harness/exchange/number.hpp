#pragma once

#include <cstdint>
#include <string>

#include "exchange/view.hpp"

namespace dlbench::exchange {

/// An element's value, whatever its dtype.
struct Number {
  bool integral = false;  ///< then sign and magnitude hold the value: a double would round an int64
  bool negative = false;
  std::uint64_t magnitude = 0;
  double re = 0;
  double im = 0;
};

/// Can number_at() decode it?
bool has_numbers(Dtype dtype);

/// Decodes the element at a host address. `dtype` must have numbers.
Number number_at(std::uintptr_t address, Dtype dtype);

/// Equal, where NaN equals NaN and the sign of a zero counts.
bool same(const Number& a, const Number& b);

/// Is `found` the value of `expected` in `found_dtype`: the same number, or, where the dtype is too
/// coarse, one of the two nearest to it?
bool explained(const Number& expected, const Number& found, Dtype found_dtype);

std::string to_string(const Number& number, Dtype dtype);

}  // namespace dlbench::exchange
