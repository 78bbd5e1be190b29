#pragma once

#include <cstdint>
#include <string_view>

#include "exchange/view.hpp"

namespace dlbench::exchange {

/// Throws ViewError for an impossible dtype: no bits, no lanes, float6 or float4 of another width,
/// and elements that share a byte (their strides are no whole bytes) unless `padded`.
void require_dtype(Dtype dtype, bool padded);

/// A PEP 3118 format of one native element ("f", "<q", "Zd", "?"). Throws ViewError: unknown,
/// structured, byte-swapped, or not `itemsize` bytes long.
Dtype dtype_from_format(std::string_view format, std::int64_t itemsize);

/// A typestr of the array interface ("<f4", "|b1"). Throws ViewError.
Dtype dtype_from_typestr(std::string_view typestr);

/// Its kind and size alone ('f', 4). Throws ViewError.
Dtype dtype_from_kind(char kind, std::int64_t itemsize);

}  // namespace dlbench::exchange
