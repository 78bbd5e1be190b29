#pragma once

#include "exchange/view.hpp"

namespace dlbench::exchange {

/// `found` in the expected array's shape and dtype, where both describe the same elements: as plain
/// bytes from a library without that dtype, or with more or fewer dimensions of one element. Else
/// `found` itself.
View restated(const View& expected, const View& found);

/// Are the expected array's bytes, in sequence, all that `found` holds?
bool is_plain_bytes(const View& expected, const View& found);

}  // namespace dlbench::exchange
