#include "exchange/number.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>

#include "exchange/float_format.hpp"
#include "exchange/layout.hpp"

namespace dlbench::exchange {
namespace {

/// At most the first eight bytes of the element, as a little-endian number on every machine.
std::uint64_t bits_at(std::uintptr_t address, int bits) {
  const auto* const from = memory_at(address);
  if (bits <= 8) {
    std::uint8_t raw = 0;
    std::memcpy(&raw, from, sizeof raw);
    return raw & ((1U << bits) - 1);
  }
  if (bits == 16) {
    std::uint16_t raw = 0;
    std::memcpy(&raw, from, sizeof raw);
    return raw;
  }
  if (bits == 32) {
    std::uint32_t raw = 0;
    std::memcpy(&raw, from, sizeof raw);
    return raw;
  }
  std::uint64_t raw = 0;
  std::memcpy(&raw, from, sizeof raw);
  return raw;
}

bool is_integer(Dtype dtype) {
  const bool width = dtype.bits == 4 || dtype.bits == 8 || dtype.bits == 16 || dtype.bits == 32 ||
                     dtype.bits == 64;
  return (dtype.code == kDLInt || dtype.code == kDLUInt) && width;
}

bool is_bool(Dtype dtype) {
  return dtype.code == kDLBool && dtype.bits == 8;
}

double as_double(const Number& number) {
  const auto magnitude = static_cast<double>(number.magnitude);
  return number.integral ? (number.negative ? -magnitude : magnitude) : number.re;
}

/// The value as an integral Number if it is an integer below 2^64.
std::optional<Number> as_integer(const Number& number) {
  if (number.integral) return number;
  if (number.im != 0 || std::trunc(number.re) != number.re || !(std::abs(number.re) < 0x1p64)) {
    return std::nullopt;
  }
  return Number{true, number.re < 0, static_cast<std::uint64_t>(std::abs(number.re)), 0, 0};
}

bool same_part(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

std::string part_text(double value, const FloatFormat& format) {
  std::array<char, 32> text{};
  const bool coarse = format.precision() <= 24;
  const auto [end, error] =
      coarse ? std::to_chars(text.data(), text.data() + text.size(), static_cast<float>(value))
             : std::to_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} ? std::string(text.data(), end) : "?";
}

}  // namespace

bool has_numbers(Dtype dtype) {
  return dtype.lanes == 1 && (is_bool(dtype) || is_integer(dtype) || float_format(dtype));
}

Number number_at(std::uintptr_t address, Dtype dtype) {
  if (is_bool(dtype)) return {true, false, bits_at(address, 8) != 0 ? 1ULL : 0ULL, 0, 0};
  if (is_integer(dtype)) {
    const std::uint64_t raw = bits_at(address, dtype.bits);
    const bool negative = dtype.code == kDLInt && (raw >> (dtype.bits - 1)) != 0;
    const std::uint64_t mask = ~std::uint64_t{0} >> (64 - dtype.bits);
    return {true, negative, negative ? (0 - raw) & mask : raw, 0, 0};
  }
  const FloatFormat format = float_format(dtype).value();
  Number number;
  number.re = format.decode(bits_at(address, format.bits()));
  if (dtype.code == kDLComplex) {
    const auto behind = static_cast<std::uintptr_t>(format.bits() / 8);
    number.im = format.decode(bits_at(address + behind, format.bits()));
  }
  return number;
}

bool same(const Number& a, const Number& b) {
  if (a.integral != b.integral) return false;
  if (a.integral) return a.negative == b.negative && a.magnitude == b.magnitude;
  return same_part(a.re, b.re) && same_part(a.im, b.im);
}

bool explained(const Number& expected, const Number& found, Dtype found_dtype) {
  if (found.integral) {
    const std::optional<Number> integer = as_integer(expected);
    return integer && integer->magnitude == found.magnitude &&
           (integer->negative == found.negative || found.magnitude == 0);
  }
  const FloatFormat format = float_format(found_dtype).value();
  return format.can_be(as_double(expected), found.re) && format.can_be(expected.im, found.im);
}

std::string to_string(const Number& number, Dtype dtype) {
  if (number.integral) return (number.negative ? "-" : "") + std::to_string(number.magnitude);
  const FloatFormat format = float_format(dtype).value();
  std::string text = part_text(number.re, format);
  if (dtype.code != kDLComplex) return text;
  const std::string im = part_text(number.im, format);
  return text + (im.front() == '-' ? "" : "+") + im + "j";
}

}  // namespace dlbench::exchange
