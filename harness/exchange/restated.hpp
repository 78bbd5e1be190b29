#pragma once

#include "exchange/view.hpp"

namespace dlbench::exchange {

/// `found` with the shape and dtype of the expected array if it describes the same elements as
/// plain bytes (from a library without that dtype) or with more or fewer dimensions of one element.
/// Otherwise `found` itself.
View restated(const View& expected, const View& found);

/// Does `found` hold exactly the bytes of the expected array, in order?
bool is_plain_bytes(const View& expected, const View& found);

}  // namespace dlbench::exchange
