#include "fleet/context.hpp"

#include <algorithm>
#include <iterator>

namespace dlbench::fleet {

void Context::end_suspicions() {
  const auto is_open = [this](std::size_t index) {
    const plan::Pair& pair = plan.pairs[index];
    return std::any_of(failed_beside_others.begin(), failed_beside_others.end(),
                       [&](const auto& failed) {
                         const Exchange& exchange = failed.first;
                         return exchange.environment == pair.environment &&
                                std::minmax(exchange.producer, exchange.consumer) ==
                                    std::minmax(pair.first, pair.second);
                       });
  };
  for (auto death = deaths.begin(); death != deaths.end();) {
    auto& [library, pairs] = *death;
    const bool was_isolated = pairs.size() > 1;
    std::erase_if(pairs, [&](std::size_t pair) {
      if (is_open(pair)) return false;
      known.share_again(pair);
      return true;
    });
    if (was_isolated && pairs.size() < 2) known.share_again(library.first, library.second);
    death = pairs.empty() ? deaths.erase(death) : std::next(death);
  }
}

}  // namespace dlbench::fleet
