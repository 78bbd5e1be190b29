#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "results/comparison/compare_side.hpp"

namespace dlbench::results {

/// The differences between the options of two sides, and the cells that only one side requested
/// because of them.
class OptionsDiffer {
 public:
  /// If the options are equal or unknown on both sides, no cell is left out.
  OptionsDiffer(const Side& base, const Side& head);

  /// Do the other side's options leave this cell out? `other` is its entry on the other side, if
  /// any: a cell that both sides requested is left out only if a different budget ended before it.
  bool left_out(const SideCell& cell, const SideCell* other, bool is_base);

  /// The numbers of cells that were left out, of base and of head.
  const std::array<std::size_t, 2>& counts() const { return counts_; }

  /// One line with each option that differs and the number of cells that are left out. Empty if
  /// none is.
  std::string line() const;

 private:
  using Values = std::map<std::string, std::set<std::string>>;  ///< by axis

  /// The differences of one machine's options.
  struct Place {
    bool any = false;    ///< an option that selects single cells differs
    std::string budget;  ///< "2m in base, the default in head" if the budgets differ
    std::map<std::string, std::string> axes;  ///< option by axis
    std::array<Values, 2> values;             ///< values on those axes in each side's entries
  };

  std::map<std::string, Place, std::less<>> places_;  ///< by machine, if the options differ
  std::map<std::string, std::string> differing_;      ///< by option: "4KiB in base, 1MiB in head"
  std::array<std::size_t, 2> counts_{};
};

}  // namespace dlbench::results
