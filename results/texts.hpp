#pragma once

#include <memory_resource>
#include <string_view>

namespace dlbench::results {

/// Memory for texts. Their addresses stay valid while it lives.
using Texts = std::pmr::monotonic_buffer_resource;

/// Copies a text into that memory.
inline std::string_view copied(std::pmr::memory_resource& texts, std::string_view text) {
  if (text.empty()) return {};
  auto* const copy = static_cast<char*>(texts.allocate(text.size(), alignof(char)));
  text.copy(copy, text.size());
  return {copy, text.size()};
}

}  // namespace dlbench::results
