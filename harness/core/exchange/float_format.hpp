#pragma once

#include <dlpack/dlpack.h>

#include <cstdint>
#include <optional>

#include "exchange/view.hpp"

namespace dlbench::exchange {

/// The layout of a binary floating-point number of at most 64 bits.
struct FloatFormat {
  /// The meaning of the highest codes.
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

  /// Is `found` the exact number rounded up or down to this format?
  bool can_be(double exact, double found) const;
};

/// The format of a real dtype, or of a part of a complex dtype; none for other dtypes.
std::optional<FloatFormat> float_format(Dtype dtype);

}  // namespace dlbench::exchange
