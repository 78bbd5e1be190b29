#include "model/ordering.hpp"

#include <algorithm>

#include "model/error.hpp"

namespace dlbench {

std::string_view to_string(Waits waits) {
  return kWaits[static_cast<std::size_t>(waits)];
}

Waits waits_from(std::string_view word) {
  const auto found = std::find(kWaits.begin(), kWaits.end(), word);
  if (found == kWaits.end()) {
    throw UsageError("unknown value '" + std::string(word) +
                     "' for waits; expected host, stream, none, wrong-stream, host-wrong, no-delay "
                     "or inconclusive");
  }
  return static_cast<Waits>(found - kWaits.begin());
}

}  // namespace dlbench
