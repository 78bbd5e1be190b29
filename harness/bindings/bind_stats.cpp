#include <pybind11/stl.h>

#include <optional>
#include <tuple>
#include <vector>

#include "bindings/bind.hpp"
#include "stats/coverage.hpp"
#include "stats/ratio.hpp"

namespace py = pybind11;

namespace dlbench::bindings {
namespace {

py::list rows_of(const std::vector<stats::Coverage>& table) {
  py::list rows;
  for (const stats::Coverage& row : table) {
    py::dict item;
    item["source"] = row.source;
    item["share"] = row.share;
    item["rounds"] = row.rounds;
    rows.append(item);
  }
  return rows;
}

stats::Stopping stopping_at(double precision) {
  stats::Stopping stopping;
  stopping.precision = precision;
  return stopping;
}

}  // namespace

void bind_stats(py::module_& module) {
  module.def(
      "coverage",
      [](std::size_t trials, std::uint64_t seed, double precision) {
        return rows_of(stats::recorded_coverage(stopping_at(precision), trials, seed));
      },
      py::arg("trials") = 4000, py::arg("seed") = 1, py::arg("precision") = 0.02,
      "How often the interval of a cell holds the truth, the stop included, over recorded rounds: "
      "a list of {source, share, rounds}.");
  module.def(
      "parametric_coverage",
      [](std::size_t trials, std::uint64_t seed, double precision) {
        return rows_of(stats::parametric_coverage(stopping_at(precision), trials, seed));
      },
      py::arg("trials") = 4000, py::arg("seed") = 1, py::arg("precision") = 0.02,
      "The same over distributions whose median is known.");
  module.def(
      "coverage_of",
      [](const std::vector<double>& record, std::size_t trials, std::uint64_t seed,
         double precision) {
        return rows_of({stats::coverage("record", stats::resampled(record), stats::median(record),
                                        stopping_at(precision), trials, seed)});
      },
      py::arg("record"), py::arg("trials") = 4000, py::arg("seed") = 1, py::arg("precision") = 0.02,
      "The same over one record of one's own, a row of rounds in ns.");
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
      "What one process may lie off, relative, at 95 %, from at least two anchors' medians.");
}

}  // namespace dlbench::bindings
