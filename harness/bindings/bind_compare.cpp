#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <string>
#include <utility>
#include <vector>

#include "bindings/bind.hpp"
#include "results/comparison/compared_fields.hpp"
#include "stats/stages.hpp"
#include "stats/stats.hpp"
#include "stats/student.hpp"

namespace py = pybind11;

namespace dlbench::bindings {
using namespace dlbench::results;

void bind_compare(py::module_& module) {
  const CompareOptions usual;
  module.def(
      "compare",
      [](std::vector<std::filesystem::path> base, std::vector<std::filesystem::path> head,
         std::string base_environment, std::string head_environment, double threshold,
         double false_alarms, bool instructions, bool force, bool only_changed) {
        std::string made;
        {
          const py::gil_scoped_release no_gil;
          made = to_json(compare({std::move(base), std::move(base_environment)},
                                 {std::move(head), std::move(head_environment)},
                                 {threshold, false_alarms, instructions, force, only_changed}));
        }
        return py::module_::import("json").attr("loads")(made);
      },
      py::kw_only(), py::arg("base"), py::arg("head"), py::arg("base_environment") = "",
      py::arg("head_environment") = "", py::arg("threshold") = usual.threshold,
      py::arg("false_alarms") = usual.false_alarms, py::arg("instructions") = usual.instructions,
      py::arg("force") = usual.force, py::arg("only_changed") = false,
      "A comparison as a dict, see dlbench.compare. A side is a list of documents. With "
      "`only_changed` only cells with a change are listed. Raises UsageError.");
  static stats::Quantiles quantiles;
  module.def(
      "next_processes",
      [](double lo, double hi, std::size_t first, std::size_t second,
         double minimum_detectable_change, std::size_t most, double threshold, double level) {
        stats::Stages stages;
        stages.most = most;
        stages.threshold = threshold;
        return stats::next_processes({lo, hi, first, second, minimum_detectable_change}, stages,
                                     level, quantiles);
      },
      py::kw_only(), py::arg("lo"), py::arg("hi"), py::arg("first"), py::arg("second"),
      py::arg("minimum_detectable_change"), py::arg("most"), py::arg("threshold"), py::arg("level"),
      "The number of workers on each side for the next analysis, from the ratio's 95 % interval, "
      "the workers of each side and their minimum detectable change. Unchanged if it is enough, at "
      "most `most`.");
  module.def(
      "part_of_alarms",
      [](std::size_t analysis, std::size_t workers, std::size_t most) {
        stats::Stages stages;
        stages.most = most;
        return stats::part_of_alarms(analysis, workers, stages);
      },
      py::kw_only(), py::arg("analysis"), py::arg("workers"), py::arg("most"),
      "The share of the false-alarm probability of an analysis, from its number (from 0), its "
      "workers on each side, and their maximum.");
  module.def(
      "student_95", [](double degrees) { return stats::student_quantile(0.05, degrees); },
      py::arg("degrees"), "Half-width of a 95 % interval in standard errors, by Student's t.");
  const stats::Stages stages;
  module.attr("threshold") = stats::kThreshold;
  module.attr("count_threshold") = stats::kCountThreshold;
  module.attr("false_alarms") = usual.false_alarms;
  module.attr("coarse_workers") = stages.coarse;
  module.attr("most_workers") = stages.most;
  module.attr("max_analyses") = stages.analyses;
}

}  // namespace dlbench::bindings
