#include "model/capture.hpp"

#include <algorithm>

#include "model/error.hpp"

namespace dlbench {

std::string_view to_string(Captured result) {
  return kCaptured[static_cast<std::size_t>(result)];
}

Captured captured_from(std::string_view word) {
  const auto found = std::find(kCaptured.begin(), kCaptured.end(), word);
  if (found == kCaptured.end()) {
    throw UsageError(
        "unknown result '" + std::string(word) +
        "' of a capture; expected captured, host-wait, refused, invalidated or failed");
  }
  return static_cast<Captured>(found - kCaptured.begin());
}

}  // namespace dlbench
