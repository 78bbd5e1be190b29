#pragma once

#include "exchange/view.hpp"

namespace dlbench::exchange {

/// `found` with the shape and dtype of the expected array if it describes the same elements as
/// bytes without a dtype or with more or fewer dimensions of one element. Otherwise `found` itself.
/// Bytes without a dtype are in C order, or as they lie in the expected array.
View restated(const View& expected, const View& found);

/// Does `found` describe as many bytes as the expected array has, without a dtype?
bool is_plain_bytes(const View& expected, const View& found);

/// The bytes of a compact array without their dtype: what an object without dtypes holds of it.
/// Another array is returned as it is.
View without_dtype(const View& view);

}  // namespace dlbench::exchange
