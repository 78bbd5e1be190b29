#include "fleet/context.hpp"

#include <unistd.h>

#include <algorithm>
#include <iterator>

namespace dlbench::fleet {

std::unique_ptr<Worker> Context::start_worker(const std::string& environment) {
  const auto found = options.pythons.find(environment);
  const std::string python = found == options.pythons.end() ? "python3" : found->second;
  return workers.start_worker(
      {python, options.worker_main, "--fd", "3", "--parent", std::to_string(::getpid())},
      options.timeout_s);
}

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
