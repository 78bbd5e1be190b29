#include "model/handover.hpp"

#include <algorithm>

#include "model/error.hpp"

namespace dlbench {

std::string_view to_string(Waits waits) {
  return kWaits[static_cast<std::size_t>(waits)];
}

Waits waits_from(std::string_view word) {
  const auto found = std::find(kWaits.begin(), kWaits.end(), word);
  if (found == kWaits.end()) throw UsageError("'" + std::string(word) + "' is nobody who waits");
  return static_cast<Waits>(found - kWaits.begin());
}

}  // namespace dlbench
