#include <dlpack/dlpack.h>

#include <array>
#include <bit>
#include <charconv>

#include "exchange/dtype.hpp"
#include "exchange/text.hpp"

namespace dlbench::exchange {
namespace {

struct Format {
  std::string_view letters;
  std::uint8_t code;
  std::int64_t native;    ///< size in bytes after '@' or without a prefix
  std::int64_t standard;  ///< size in bytes after '=' or '<'; 0: not allowed
};

constexpr std::array<Format, 21> kFormats{{
    {"?", kDLBool, sizeof(bool), 1},
    {"b", kDLInt, 1, 1},
    {"B", kDLUInt, 1, 1},
    {"h", kDLInt, sizeof(short), 2},
    {"H", kDLUInt, sizeof(short), 2},
    {"i", kDLInt, sizeof(int), 4},
    {"I", kDLUInt, sizeof(int), 4},
    {"l", kDLInt, sizeof(long), 4},
    {"L", kDLUInt, sizeof(long), 4},
    {"q", kDLInt, sizeof(long long), 8},
    {"Q", kDLUInt, sizeof(long long), 8},
    {"n", kDLInt, sizeof(std::size_t), 0},
    {"N", kDLUInt, sizeof(std::size_t), 0},
    {"e", kDLFloat, 2, 2},
    {"f", kDLFloat, 4, 4},
    {"d", kDLFloat, 8, 8},
    {"Zf", kDLComplex, 8, 8},
    {"Zd", kDLComplex, 16, 16},
    // Complex numbers in the notation of the struct module of newer Pythons.
    {"F", kDLComplex, 8, 8},
    {"D", kDLComplex, 16, 16},
    {"Ze", kDLComplex, 4, 4},
}};

Dtype dtype_of(std::uint8_t code, std::int64_t bytes) {
  return {code, static_cast<std::uint8_t>(bytes * 8), 1};
}

bool is_swapped(char order) {
  constexpr bool kLittle = std::endian::native == std::endian::little;
  return kLittle ? order == '>' || order == '!' : order == '<';
}

/// Dates, durations, strings and records: arrays, but not of numbers.
bool is_without_numbers(char kind) {
  return std::string_view("MmSUV").find(kind) != std::string_view::npos;
}

}  // namespace

Dtype dtype_from_format(std::string_view format, std::int64_t itemsize) {
  const bool prefixed =
      !format.empty() && std::string_view("@=<>!").find(format.front()) != std::string_view::npos;
  const char order = prefixed ? format.front() : '@';
  const std::string_view letters = format.substr(prefixed ? 1 : 0);
  for (const Format& known : kFormats) {
    if (known.letters != letters) continue;
    const std::int64_t bytes = order == '@' ? known.native : known.standard;
    if (bytes == 0) break;
    if (bytes > 1 && is_swapped(order)) {
      throw ViewError("format " + quoted(format) + " is byte-swapped");
    }
    if (bytes != itemsize) {
      throw ViewError("format " + quoted(format) + " is " + std::to_string(bytes) +
                      " bytes long, the itemsize " + std::to_string(itemsize));
    }
    return dtype_of(known.code, bytes);
  }
  if (letters == "O" && itemsize == 8) return kObjects;
  throw UnknownFormatError("unknown format " + quoted(format));
}

Dtype dtype_from_kind(char kind, std::int64_t itemsize) {
  const auto is = [itemsize](auto... sizes) { return ((itemsize == sizes) || ...); };
  if (kind == 'b' && is(1)) return dtype_of(kDLBool, 1);
  if (kind == 'i' && is(1, 2, 4, 8)) return dtype_of(kDLInt, itemsize);
  if (kind == 'u' && is(1, 2, 4, 8)) return dtype_of(kDLUInt, itemsize);
  if (kind == 'f' && is(2, 4, 8)) return dtype_of(kDLFloat, itemsize);
  if (kind == 'c' && is(8, 16)) return dtype_of(kDLComplex, itemsize);
  if (kind == 'O' && is(8)) return kObjects;
  if (kind == 'T' && is(16)) return kStrings;
  const std::string unknown =
      "unknown type kind " + quoted({&kind, 1}) + " of " + std::to_string(itemsize) + " bytes";
  if (is_without_numbers(kind)) throw UnknownFormatError(unknown);
  throw ViewError(unknown);
}

Dtype dtype_from_typestr(std::string_view typestr) {
  if (typestr == "|O") return kObjects;
  if (typestr == "StringDType()") return kStrings;
  if (typestr.size() < 3 ||
      std::string_view("<>|=").find(typestr.front()) == std::string_view::npos) {
    throw ViewError("unknown typestr " + quoted(typestr));
  }
  if (is_without_numbers(typestr[1]))
    throw UnknownFormatError("unknown typestr " + quoted(typestr));
  std::int64_t itemsize = 0;
  const char* const end = typestr.data() + typestr.size();
  const auto [stop, error] = std::from_chars(typestr.data() + 2, end, itemsize);
  if (error != std::errc{} || stop != end) throw ViewError("unknown typestr " + quoted(typestr));
  const Dtype dtype = dtype_from_kind(typestr[1], itemsize);
  if (itemsize > 1 && is_swapped(typestr.front())) {
    throw ViewError("typestr " + quoted(typestr) + " is byte-swapped");
  }
  return dtype;
}

}  // namespace dlbench::exchange
