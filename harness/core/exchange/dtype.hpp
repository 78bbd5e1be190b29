#pragma once

#include <cstdint>
#include <string_view>

#include "exchange/view.hpp"

namespace dlbench::exchange {

/// The end of the message for elements that share a byte.
inline constexpr const char* kPacked = "packs several elements into a byte";

/// Throws ViewError for an impossible dtype (no bits, no lanes, a width that the code does not
/// allow), UnknownFormatError for elements that share a byte unless `padded`.
void require_dtype(Dtype dtype, bool padded);

/// NumPy's dtypes of Python objects and of variable strings, for which dlpack.h has no code. Short
/// strings lie in their elements.
inline constexpr Dtype kObjects{202, 64}, kStrings{203, 128};

/// Has PEP 3118 a format, or the array interface a typestr, for the dtype?
bool has_format(Dtype dtype);

/// The dtype of a PEP 3118 format of one native element ("f", "<q", "Zd", "?"). Throws ViewError if
/// the format is unknown, structured, byte-swapped, or not `itemsize` bytes long.
Dtype dtype_from_format(std::string_view format, std::int64_t itemsize);

/// The dtype of a typestr of the array interface ("<f4", "|b1"). Throws ViewError.
Dtype dtype_from_typestr(std::string_view typestr);

/// The dtype of a kind and size ('f', 4). Throws ViewError.
Dtype dtype_from_kind(char kind, std::int64_t itemsize);

}  // namespace dlbench::exchange
