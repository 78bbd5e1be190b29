#pragma once

#include "exchange/view.hpp"

namespace dlbench::exchange {

/// `found` in the expected array's terms, where it is the same elements told otherwise: as plain
/// bytes, by a library that knows no dtype, or with more or fewer dimensions of one element. Else
/// `found` itself.
View restated(const View& expected, const View& found);

/// Is `found` nothing but the expected array's bytes, one after the other?
bool is_plain_bytes(const View& expected, const View& found);

}  // namespace dlbench::exchange
