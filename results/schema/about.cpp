#include "results/schema/about.hpp"

#include <array>
#include <cstdio>

namespace dlbench::results {
namespace {

std::string short_number(double number) {
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.16g", number);
  return {text.data(), static_cast<std::size_t>(length)};
}

bool is_one_of(std::string_view words, std::string_view word) {
  for (std::size_t at = 0; at <= words.size();) {
    const std::size_t end = std::min(words.find(' ', at), words.size());
    if (words.substr(at, end - at) == word) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

bool Rule::admits(std::string_view text) const {
  if (!words.empty()) return is_one_of(words, text);
  return pattern == nullptr || pattern->fits(text);
}

std::string Rule::expected(std::string_view kind) const {
  if (!words.empty()) return "one of " + std::string(words);
  if (pattern != nullptr) return std::string(pattern->shown);
  std::string text(kind);
  if (least) text += (is_open ? " above " : " from ") + short_number(*least);
  if (most) text += (is_open ? " below " : " to ") + short_number(*most);
  return text;
}

}  // namespace dlbench::results
