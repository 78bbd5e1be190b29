#include "results/checks.hpp"

#include <array>
#include <string>
#include <string_view>
#include <unordered_set>

namespace dlbench::results {
namespace {

constexpr std::array<std::string_view, 4> kOutcomesOfRules{"holds", "broken", "not-applicable",
                                                           "unclear"};

}  // namespace

void check_checks(const Fields& document) {
  if (!document.has("checks")) return;
  std::unordered_set<std::string> names;
  std::size_t index = 0;
  for (const Value& value : document.list("checks")) {
    const Fields item(value, document.place("checks") + "/" + std::to_string(index++));
    for (const std::string_view key : {"version", "role", "level", "section", "seen"}) {
      item.text(key);
    }
    const bool broken = item.one_of("outcome", kOutcomesOfRules) == "broken";
    if (broken) item.text("reproducer");
    if (item.has("accepted")) item.flag("accepted");
    const std::string name = item.text("library") + " " + item.text("rule");
    if (!names.insert(name).second) item.fail("rule", "a rule that was not checked already");
  }
}

}  // namespace dlbench::results
