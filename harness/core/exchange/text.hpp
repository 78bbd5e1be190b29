#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dlbench::exchange {

/// "(2, 3)", "(6,)", "()".
std::string tuple_text(std::span<const std::int64_t> values);

/// The text in quotes, shortened and on one line. For text from a library.
std::string quoted(std::string_view text);

}  // namespace dlbench::exchange
