#pragma once

#include <dlpack/dlpack.h>

#include <cstdint>
#include <optional>

#include "exchange/view.hpp"

namespace dlbench::exchange {

/// How a binary float of at most 64 bits is laid out.
struct FloatFormat {
  /// Which special values the highest codes stand for.
  enum class Top {
    ieee,           ///< infinities and NaN in the highest exponent
    nan_only,       ///< NaN where all bits are set, no infinities (`fn`)
    negative_zero,  ///< NaN in place of the negative zero (`fnuz`)
    finite,         ///< numbers only
    scale,          ///< no sign, no zero, NaN where all bits are set (e8m0)
  };
  int exponent_bits = 8;
  int mantissa_bits = 23;
  int bias = 127;
  Top top = Top::ieee;

  int bits() const { return (top == Top::scale ? 0 : 1) + exponent_bits + mantissa_bits; }
  int precision() const { return mantissa_bits + 1; }
  double decode(std::uint64_t raw) const;

  /// Is `found` the exact number or one of its two neighbors in this format?
  bool can_be(double exact, double found) const;
};

/// The format of a real dtype, or of one part of a complex one; none for all others.
std::optional<FloatFormat> float_format(Dtype dtype);

}  // namespace dlbench::exchange
