#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dlbench::exchange {

/// "(2, 3)", "(6,)", "()".
std::string tuple_text(std::span<const std::int64_t> values);

/// 'text' in quotes, shortened and on one line, for text that a library made.
std::string quoted(std::string_view text);

}  // namespace dlbench::exchange
