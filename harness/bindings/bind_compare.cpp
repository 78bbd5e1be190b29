#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "bindings/bind.hpp"
#include "model/build.hpp"
#include "model/cell.hpp"
#include "results/comparison/compare.hpp"
#include "stats/stages.hpp"
#include "stats/stats.hpp"

namespace py = pybind11;

namespace dlbench::bindings {
namespace {

using namespace dlbench::results;

template <typename Value>
py::object optional(const std::optional<Value>& value) {
  return value ? py::cast(*value) : py::none();
}

template <typename Words>
std::vector<py::str> python_texts(const Words& words) {
  return {words.begin(), words.end()};
}

py::dict dict_of(const SideFacts& side) {
  py::dict item;
  item["runs"] = side.runs;
  item["environment"] = side.environment;
  item["date"] = side.date;
  item["python"] = side.python;
  item["libraries"] = side.libraries;
  return item;
}

py::dict dict_of(const ComparedCell& cell) {
  static const std::vector<py::str>* const outcomes = new auto(python_texts(kOutcomes));
  static const std::vector<py::str>* const words = new auto(python_texts(kChangeWords));
  const auto outcome = [](const ComparedSide& side) -> py::object {
    return side.outcome ? py::object(outcomes->at(static_cast<std::size_t>(*side.outcome)))
                        : py::none();
  };
  const Cell own = cell_from_name(cell.name);
  py::dict item;
  item["name"] = cell.name;
  each_axis(own, [&item](const char* key, const auto& value) { item[key] = value; });
  item["presence"] = kPresences.at(static_cast<std::size_t>(cell.presence));
  item["base_outcome"] = outcome(cell.base);
  item["head_outcome"] = outcome(cell.head);
  item["base"] = optional(cell.base.value);
  item["head"] = optional(cell.head.value);
  item["base_workers"] = cell.base.workers;
  item["head_workers"] = cell.head.workers;
  item["ratio"] = optional(cell.ratio);
  item["lo"] = optional(cell.lo);
  item["hi"] = optional(cell.hi);
  item["p"] = optional(cell.p);
  item["spread"] = optional(cell.spread);
  item["minimum_detectable_change"] = optional(cell.minimum_detectable_change);
  item["verdict"] =
      cell.verdict ? py::object(words->at(static_cast<std::size_t>(*cell.verdict))) : py::none();
  py::object inconclusive = py::none();
  if (cell.inconclusive) {
    py::dict why;
    why["code"] = kInconclusiveCauses.at(static_cast<std::size_t>(cell.inconclusive->cause));
    why["replicas"] = optional(cell.inconclusive->replicas);
    inconclusive = why;
  }
  item["inconclusive"] = inconclusive;
  item["outcome_change"] =
      cell.outcome_change == OutcomeChange::none
          ? py::object(py::none())
          : py::str(kOutcomeChanges.at(static_cast<std::size_t>(cell.outcome_change)));
  item["details"] = cell.details;
  return item;
}

py::object minimum_detectable_change(const Comparison& made) {
  std::vector<double> all;
  for (const ComparedCell& cell : made.cells) {
    if (cell.minimum_detectable_change) all.push_back(*cell.minimum_detectable_change);
  }
  if (all.empty()) return py::none();
  py::dict item;
  item["least"] = *std::min_element(all.begin(), all.end());
  item["median"] = stats::median(all);
  item["most"] = *std::max_element(all.begin(), all.end());
  return item;
}

bool is_changed(const ComparedCell& cell) {
  return cell.presence != Presence::both || cell.outcome_change != OutcomeChange::none ||
         cell.verdict == ChangeWord::slow || cell.verdict == ChangeWord::fast;
}

py::dict dict_of(const Comparison& made, bool only_changed) {
  py::dict counts;
  for (std::size_t i = 0; i < kChangeWords.size(); ++i) {
    counts[py::str(kChangeWords.at(i))] = made.count(static_cast<ChangeWord>(i));
  }
  for (std::size_t i = 1; i < kOutcomeChanges.size(); ++i) {
    counts[py::str(kOutcomeChanges.at(i))] = made.count(static_cast<OutcomeChange>(i));
  }
  for (std::size_t i = 1; i < kPresences.size(); ++i) {
    counts[py::str(kPresences.at(i))] = made.count(static_cast<Presence>(i));
  }
  py::list cells;
  // Disable the collector, which would scan many thousand dicts repeatedly and free none.
  const int was_enabled = PyGC_Disable();
  for (const ComparedCell& cell : made.cells) {
    if (!only_changed || is_changed(cell)) cells.append(dict_of(cell));
  }
  if (was_enabled != 0) PyGC_Enable();
  py::dict item;
  item["dlbench_comparison"] = 1;
  item["version"] = version();
  item["metric"] = made.options.instructions ? "instructions" : "time";
  item["threshold"] = made.options.threshold;
  item["false_alarms"] = made.options.false_alarms;
  item["base"] = dict_of(made.base);
  item["head"] = dict_of(made.head);
  item["counts"] = counts;
  item["minimum_detectable_change"] = minimum_detectable_change(made);
  py::dict inconclusive;
  inconclusive["cells"] = made.inconclusive.cells;
  inconclusive["of"] = made.inconclusive.of;
  inconclusive["replicas"] = optional(made.inconclusive.replicas);
  inconclusive["unknown"] = made.inconclusive.unknown;
  inconclusive["undecidable"] = made.inconclusive.undecidable;
  item["inconclusive"] = inconclusive;
  py::dict left_out;
  left_out["base"] = made.left_out[0];
  left_out["head"] = made.left_out[1];
  item["left_out"] = left_out;
  py::list warnings;
  for (const Warning& one : made.warnings) {
    py::dict warning;
    warning["code"] = one.code;
    warning["text"] = one.text;
    if (!one.data.empty()) warning["data"] = one.data;
    warnings.append(warning);
  }
  item["warnings"] = warnings;
  item["cells"] = cells;
  return item;
}

}  // namespace

void bind_compare(py::module_& module) {
  const CompareOptions usual;
  module.def(
      "compare",
      [](std::vector<std::filesystem::path> base, std::vector<std::filesystem::path> head,
         std::string base_environment, std::string head_environment, double threshold,
         double false_alarms, bool instructions, bool force, bool only_changed) {
        Comparison made;
        {
          const py::gil_scoped_release no_gil;
          made = compare({std::move(base), std::move(base_environment)},
                         {std::move(head), std::move(head_environment)},
                         {threshold, false_alarms, instructions, force});
        }
        return dict_of(made, only_changed);
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
  const stats::Stages stages;
  module.attr("threshold") = stats::kThreshold;
  module.attr("count_threshold") = stats::kCountThreshold;
  module.attr("false_alarms") = usual.false_alarms;
  module.attr("coarse_workers") = stages.coarse;
  module.attr("most_workers") = stages.most;
  module.attr("max_analyses") = stages.analyses;
  module.attr("fewest_similar") = stats::kFewestSimilar;
}

}  // namespace dlbench::bindings
