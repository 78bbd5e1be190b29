#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dlbench::exchange {

/// "(2, 3)", "(6,)", "()".
std::string tuple_text(std::span<const std::int64_t> values);

/// 'text' in quotes, on one line and short, whatever a library put into it.
std::string quoted(std::string_view text);

}  // namespace dlbench::exchange
