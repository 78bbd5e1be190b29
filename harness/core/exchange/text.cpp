#include "exchange/text.hpp"

namespace dlbench::exchange {

std::string tuple_text(std::span<const std::int64_t> values) {
  std::string text = "(";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(values[i]);
  }
  return text + (values.size() == 1 ? ",)" : ")");
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::string shown = "'";
  for (const char c : text.substr(0, kLongest)) shown += c >= ' ' && c <= '~' ? c : '?';
  return shown + (text.size() > kLongest ? "...'" : "'");
}

}  // namespace dlbench::exchange
