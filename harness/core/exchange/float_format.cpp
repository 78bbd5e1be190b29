#include "exchange/float_format.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dlbench::exchange {
namespace {

using Top = FloatFormat::Top;

struct Known {
  std::uint8_t code;
  std::uint8_t bits;
  FloatFormat format;
};

constexpr FloatFormat kHalf{5, 10, 15, Top::ieee};
constexpr FloatFormat kSingle{8, 23, 127, Top::ieee};
constexpr FloatFormat kDouble{11, 52, 1023, Top::ieee};

constexpr Known kKnown[] = {
    {kDLFloat, 16, kHalf},
    {kDLFloat, 32, kSingle},
    {kDLFloat, 64, kDouble},
    {kDLBfloat, 16, {8, 7, 127, Top::ieee}},
    {kDLComplex, 32, kHalf},
    {kDLComplex, 64, kSingle},
    {kDLComplex, 128, kDouble},
    {kDLFloat8_e3m4, 8, {3, 4, 3, Top::ieee}},
    {kDLFloat8_e4m3, 8, {4, 3, 7, Top::ieee}},
    {kDLFloat8_e4m3b11fnuz, 8, {4, 3, 11, Top::negative_zero}},
    {kDLFloat8_e4m3fn, 8, {4, 3, 7, Top::nan_only}},
    {kDLFloat8_e4m3fnuz, 8, {4, 3, 8, Top::negative_zero}},
    {kDLFloat8_e5m2, 8, {5, 2, 15, Top::ieee}},
    {kDLFloat8_e5m2fnuz, 8, {5, 2, 16, Top::negative_zero}},
    {kDLFloat8_e8m0fnu, 8, {8, 0, 127, Top::scale}},
    {kDLFloat6_e2m3fn, 6, {2, 3, 1, Top::finite}},
    {kDLFloat6_e3m2fn, 6, {3, 2, 3, Top::finite}},
    {kDLFloat4_e2m1fn, 4, {2, 1, 1, Top::finite}},
};

}  // namespace

std::optional<FloatFormat> float_format(Dtype dtype) {
  for (const Known& known : kKnown) {
    if (known.code == dtype.code && known.bits == dtype.bits) return known.format;
  }
  return std::nullopt;
}

double FloatFormat::decode(std::uint64_t raw) const {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - bits());
  if (top == Top::scale) return raw == all ? kNan : std::ldexp(1.0, static_cast<int>(raw) - bias);

  const std::uint64_t mantissa_mask = (std::uint64_t{1} << mantissa_bits) - 1;
  const std::uint64_t highest = (std::uint64_t{1} << exponent_bits) - 1;
  const std::uint64_t mantissa = raw & mantissa_mask;
  const std::uint64_t exponent = (raw >> mantissa_bits) & highest;
  const bool negative = (raw >> (bits() - 1)) != 0;
  const double sign = negative ? -1.0 : 1.0;

  if (top == Top::negative_zero && negative && mantissa == 0 && exponent == 0) return kNan;
  if (top == Top::nan_only && exponent == highest && mantissa == mantissa_mask) return kNan;
  if (top == Top::ieee && exponent == highest) {
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : kNan;
  }
  const int lowest = 1 - bias - mantissa_bits;
  if (exponent == 0) return sign * std::ldexp(static_cast<double>(mantissa), lowest);
  const std::uint64_t digits = mantissa | (mantissa_mask + 1);
  return sign * std::ldexp(static_cast<double>(digits), lowest + static_cast<int>(exponent) - 1);
}

bool FloatFormat::can_be(double exact, double found) const {
  if (std::isnan(exact)) return std::isnan(found);
  if (exact == found) return true;
  if (!std::isfinite(exact) || !std::isfinite(found)) return false;
  int exponent = 0;
  std::frexp(exact, &exponent);
  const int quantum = std::max(exponent - precision(), 1 - bias - mantissa_bits);
  const double steps = std::ldexp(exact, -quantum);
  return found == std::ldexp(std::floor(steps), quantum) ||
         found == std::ldexp(std::ceil(steps), quantum);
}

}  // namespace dlbench::exchange
