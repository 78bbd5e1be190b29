#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "results/compare_side.hpp"

namespace dlbench::results {

/// By what the options of two sides differ, and which cells only one side requested because of it.
class OptionsDiffer {
 public:
  /// Where the options are the same, or unknown on both sides, nothing is left out.
  OptionsDiffer(const Side& base, const Side& head);

  /// Did the other side's options leave this cell out? `other` is its entry on the other side, if
  /// any: what was requested on both sides is left out only where another budget ended before it.
  bool left_out(const SideCell& cell, const SideCell* other, bool is_base);

  /// How many were, of base and of head.
  const std::array<std::size_t, 2>& counts() const { return counts_; }

  /// One line: each option that differs, and how many cells are left out. Empty where none is.
  std::string line() const;

 private:
  using Values = std::map<std::string, std::set<std::string>>;  ///< by axis

  /// What one machine's options differ by.
  struct Place {
    bool any = false;    ///< an option that chooses cells one by one differs
    std::string budget;  ///< "2m in base, the default in head", where the budgets differ
    std::map<std::string, std::string> axes;  ///< axis, and its option
    std::array<Values, 2> values;             ///< on those axes, of each side's entries
  };

  std::map<std::string, Place, std::less<>> places_;  ///< by machine, where the options differ
  std::map<std::string, std::string> differing_;      ///< by option: "4KiB in base, 1MiB in head"
  std::array<std::size_t, 2> counts_{};
};

}  // namespace dlbench::results
