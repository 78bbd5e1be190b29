#pragma once

#include <dlpack/dlpack.h>

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

namespace dlbench::native {

/// One element type in the notation of each protocol.
struct Dtype {
  std::string_view name;  ///< NumPy's name for it
  DLDataTypeCode code;
  std::uint8_t bytes;
  char kind;           ///< of `__array_interface__` and `__array_struct__`
  const char* format;  ///< of the buffer protocol

  DLDataType dlpack() const {
    return {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(bytes * 8), 1};
  }
};

inline constexpr std::array<Dtype, 14> kDtypes{{
    {"bool", kDLBool, 1, 'b', "?"},
    {"int8", kDLInt, 1, 'i', "b"},
    {"int16", kDLInt, 2, 'i', "h"},
    {"int32", kDLInt, 4, 'i', "i"},
    {"int64", kDLInt, 8, 'i', sizeof(long) == 8 ? "l" : "q"},
    {"uint8", kDLUInt, 1, 'u', "B"},
    {"uint16", kDLUInt, 2, 'u', "H"},
    {"uint32", kDLUInt, 4, 'u', "I"},
    {"uint64", kDLUInt, 8, 'u', sizeof(long) == 8 ? "L" : "Q"},
    {"float16", kDLFloat, 2, 'f', "e"},
    {"float32", kDLFloat, 4, 'f', "f"},
    {"float64", kDLFloat, 8, 'f', "d"},
    {"complex64", kDLComplex, 8, 'c', "Zf"},
    {"complex128", kDLComplex, 16, 'c', "Zd"},
}};

inline const Dtype* find_dtype(DLDataType type) {
  for (const Dtype& known : kDtypes) {
    if (known.code == type.code && known.bytes * 8 == type.bits && type.lanes == 1) return &known;
  }
  return nullptr;
}

/// Finds a dtype by kind and size, as in "<f4".
inline const Dtype* find_dtype(char kind, std::int64_t bytes) {
  for (const Dtype& known : kDtypes) {
    if (known.kind == kind && known.bytes == bytes) return &known;
  }
  return nullptr;
}

inline bool is_native_order(char order) {
  return order == '=' || order == '@' || order == '|' ||
         order == (std::endian::native == std::endian::little ? '<' : '>');
}

/// Finds a dtype by a typestr such as "<f4". Null for other dtypes and for byte-swapped data.
inline const Dtype* find_typestr(std::string_view text) {
  if (text.size() < 3 || text.size() > 4 || !is_native_order(text[0])) return nullptr;
  std::int64_t bytes = 0;
  for (const char digit : text.substr(2)) {
    if (digit < '0' || digit > '9') return nullptr;
    bytes = bytes * 10 + (digit - '0');
  }
  return find_dtype(text[1], bytes);
}

/// Finds a dtype by a buffer's format and itemsize. A missing format means unsigned bytes.
inline const Dtype* find_format(const char* format, std::int64_t itemsize) {
  std::string_view text = format == nullptr ? "B" : format;
  if (!text.empty() && std::string_view("@=|<>!").find(text[0]) != std::string_view::npos) {
    if (!is_native_order(text[0]) && itemsize > 1) return nullptr;
    text.remove_prefix(1);
  }
  if (text == "?") return find_dtype('b', itemsize);
  if (text == "Zf" || text == "Zd") return find_dtype('c', itemsize);
  if (text.size() != 1) return nullptr;
  if (std::string_view("bhilqn").find(text[0]) != std::string_view::npos) {
    return find_dtype('i', itemsize);
  }
  if (std::string_view("BHILQN").find(text[0]) != std::string_view::npos) {
    return find_dtype('u', itemsize);
  }
  if (std::string_view("efd").find(text[0]) != std::string_view::npos) {
    return find_dtype('f', itemsize);
  }
  return std::string_view("FD").find(text[0]) != std::string_view::npos ? find_dtype('c', itemsize)
                                                                        : nullptr;
}

}  // namespace dlbench::native
