#include <pybind11/stl.h>

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/bind.hpp"
#include "stats/process_spread.hpp"
#include "stats/ratio.hpp"

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
      "(value, lo, hi, honest): the second side's time divided by the first's, with a 95 % "
      "interval. A side is a list of processes, a process is a list of rounds. `between` is the "
      "spread between processes (between_half_width). Raises ValueError for an empty side or "
      "process.");
  module.def(
      "between_half_width",
      [](const std::vector<double>& medians) { return stats::between_half_width(medians); },
      py::arg("medians"),
      "Half-width of the 95 % prediction interval for the next process, relative to the median, "
      "from the medians of at least two processes.");
  module.def(
      "process_intervals",
      [](const std::vector<stats::Series>& cells) {
        stats::ProcessSpread spread;
        for (const stats::Series& medians : cells) spread.add(medians);
        spread.estimate();
        std::vector<std::pair<double, double>> found;
        for (const stats::Series& medians : cells) {
          const auto interval = spread.interval(medians);
          found.emplace_back(interval.lo, interval.hi);
        }
        return found;
      },
      py::arg("cells"),
      "The 95 % interval of each cell of a run, from the medians of its processes.");
}

}  // namespace dlbench::bindings
