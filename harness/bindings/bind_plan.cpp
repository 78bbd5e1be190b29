#include <pybind11/stl.h>

#include <tuple>

#include "bindings/bind.hpp"
#include "model/error.hpp"
#include "supervisor/plan/axes.hpp"
#include "supervisor/plan/plan.hpp"

namespace py = pybind11;

namespace dlbench::bindings {
namespace {

using plan::Axes;
using plan::Library;
using plan::Plan;

void bind_library(py::module_& module) {
  py::class_<Library>(module, "Library", "A library as known before any worker starts.")
      .def(init_from_attributes<Library>())
      .def_readwrite("name", &Library::name)
      .def_readwrite("environment", &Library::environment)
      .def_readwrite("installed", &Library::installed)
      .def_readwrite("version", &Library::version)
      .def_readwrite("why_not", &Library::why_not)
      .def_readwrite("producer_path", &Library::producer_path)
      .def_readwrite("consumer_path", &Library::consumer_path)
      .def_readwrite("protocols", &Library::protocols)
      .def_readwrite("devices", &Library::devices)
      .def_readwrite("has_ready", &Library::has_ready)
      .def_readwrite("imports_first", &Library::imports_first)
      .def_readwrite("crosses", &Library::crosses)
      .def_readwrite("launches", &Library::launches)
      .def_readwrite("in_default_matrix", &Library::in_default_matrix)
      .def_readwrite("hidden", &Library::hidden)
      .def_property(
          "absence", [](const Library& library) { return std::string(to_string(library.absence)); },
          [](Library& library, const std::string& word) { library.absence = outcome_from(word); },
          "The outcome of its cells if it is not installed.");
}

using Kinds = std::vector<std::tuple<std::string, int, std::string>>;

void set_device_kinds(Axes& axes, const Kinds& kinds) {
  axes.device_kinds.clear();
  for (const auto& [kind, count, why_not] : kinds) {
    axes.device_kinds.push_back({kind, count, why_not});
  }
}

void bind_axes(py::module_& module) {
  py::class_<Axes>(module, "Axes", "The requested axes; an empty list means the default.")
      .def(init_from_attributes<Axes>())
      .def_readwrite("environments", &Axes::environments)
      .def_readwrite("producers", &Axes::producers)
      .def_readwrite("consumers", &Axes::consumers)
      .def_readwrite("protocols", &Axes::protocols)
      .def_readwrite("devices", &Axes::devices)
      .def_readwrite("cases", &Axes::cases)
      .def_readwrite("sizes", &Axes::sizes)
      .def_readwrite("arrays", &Axes::arrays)
      .def_readwrite("phases", &Axes::phases)
      .def_readwrite("filter", &Axes::filter)
      .def_property("device_kinds", nullptr, &set_device_kinds,
                    "(name, count, why there is none) each.")
      .def(
          "why_missing",
          [](const Axes& axes, const std::string& device) {
            return plan::why_missing(axes.device_kinds, device);
          },
          py::arg("device"), "Why this machine lacks the device; empty if it may have it.");
}

py::list excluded(const Plan& plan) {
  py::list all;
  for (const Entry& entry : plan.excluded) {
    all.append(py::make_tuple(entry.cell, std::string(to_string(entry.outcome)), entry.reason));
  }
  return all;
}

py::list pairs(const Plan& plan) {
  py::list all;
  for (const plan::Pair& pair : plan.pairs) {
    all.append(py::make_tuple(pair.environment, pair.first, pair.second, pair.cells.size()));
  }
  return all;
}

}  // namespace

void bind_plan(py::module_& module) {
  bind_library(module);
  bind_axes(module);
  py::class_<Plan>(module, "Plan")
      .def_property_readonly("cells", [](const Plan& plan) { return plan.cells; })
      .def_property_readonly("excluded", &excluded, "(cell, outcome, reason) each.")
      .def_property_readonly("pairs", &pairs, "(environment, first, second, cells) each.")
      .def_readonly("fingerprint", &Plan::fingerprint);
  module.def("parse_device", &plan::parse_device, py::arg("word"), py::arg("libraries"),
             "\"cuda\" -> \"cuda:0\". Raises UsageError for an unknown kind of device.");
  module.def("make_plan", &plan::make, py::arg("libraries"), py::arg("axes"),
             "Expands the axes. Raises UsageError for unknown words.");
}

}  // namespace dlbench::bindings
