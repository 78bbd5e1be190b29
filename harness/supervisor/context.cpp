#include "supervisor/context.hpp"

#include <algorithm>
#include <iterator>

namespace dlbench::supervisor {

void Context::explain_failures() {
  const auto is_open = [this](std::size_t index) {
    const auto& cells = plan.pairs[index].cells;
    return std::any_of(cells.begin(), cells.end(), [this](std::size_t cell) {
      return failed_beside_others.contains(plan.cells[cell].exchange);
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

}  // namespace dlbench::supervisor
