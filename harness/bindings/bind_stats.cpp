#include <pybind11/stl.h>

#include <optional>
#include <tuple>
#include <vector>

#include "bindings/bind.hpp"
#include "stats/ratio.hpp"
#include "stats/stats.hpp"

namespace py = pybind11;

namespace dlbench::bindings {
void bind_stats(py::module_& module) {
  module.def(
      "ratio_of_medians",
      [](const std::vector<std::vector<double>>& first,
         const std::vector<std::vector<double>>& second, std::optional<double> between) {
        const stats::Ratio ratio = stats::ratio_of_medians(first, second, between);
        return std::tuple(ratio.value, ratio.lo, ratio.hi, ratio.honest);
      },
      py::arg("first"), py::arg("second"), py::arg("between") = py::none(),
      "(value, lo, hi, honest) of the second side's time over the first's at 95 %; a side is a "
      "list of processes, a process the list of its rounds. `between` is what one process may lie "
      "off (between_half_width). Raises ValueError for a side or a process that is empty.");
  module.def(
      "between_half_width",
      [](const std::vector<double>& medians) { return stats::between_half_width(medians); },
      py::arg("medians"),
      "What one process may lie off, relative, at 95 %, from at least two references' medians.");
}

}  // namespace dlbench::bindings
