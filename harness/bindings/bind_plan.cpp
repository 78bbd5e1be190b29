#include <pybind11/stl.h>

#include <tuple>

#include "bindings/bind.hpp"
#include "model/error.hpp"
#include "plan/axes.hpp"
#include "plan/plan.hpp"

namespace py = pybind11;

namespace dlbench::bindings {
namespace {

using plan::Axes;
using plan::Library;
using plan::Plan;
using Words = std::vector<std::string>;

void bind_library(py::module_& module) {
  py::class_<Library>(module, "Library", "What is known of a library before any worker starts.")
      .def(py::init([](std::string name, std::string environment, bool installed,
                       std::string version, std::string why_not, std::string producer_path,
                       std::string consumer_path, Words protocols, Words devices, bool has_ready,
                       bool crosses, bool in_default_matrix, bool hidden,
                       const std::string& absence) {
             return Library{std::move(name),
                            std::move(environment),
                            installed,
                            std::move(version),
                            std::move(why_not),
                            std::move(producer_path),
                            std::move(consumer_path),
                            std::move(protocols),
                            std::move(devices),
                            has_ready,
                            crosses,
                            in_default_matrix,
                            hidden,
                            outcome_from(absence)};
           }),
           py::kw_only(), py::arg("name"), py::arg("environment") = "default",
           py::arg("installed") = false, py::arg("version") = "", py::arg("why_not") = "",
           py::arg("producer_path") = "", py::arg("consumer_path") = "",
           py::arg("protocols") = Words{}, py::arg("devices") = Words{"cpu"},
           py::arg("has_ready") = false, py::arg("crosses") = false,
           py::arg("in_default_matrix") = true, py::arg("hidden") = false,
           py::arg("absence") = "not-installed")
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
      .def_readwrite("in_default_matrix", &Library::in_default_matrix)
      .def_readwrite("hidden", &Library::hidden)
      .def_property_readonly(
          "absence", [](const Library& library) { return std::string(to_string(library.absence)); },
          "What its cells record as where it is not installed.");
}

void bind_axes(py::module_& module) {
  py::class_<Axes>(module, "Axes", "The requested axes; an empty list means the default.")
      .def(py::init([](Words environments, Words producers, Words consumers, Words protocols,
                       Words devices, Words cases, std::vector<std::uint64_t> sizes, Words phases,
                       std::string filter,
                       const std::vector<std::tuple<std::string, int, std::string>>& kinds) {
             std::vector<plan::DeviceKind> device_kinds;
             for (const auto& [kind, count, why_not] : kinds) {
               device_kinds.push_back({kind, count, why_not});
             }
             return Axes{std::move(environments), std::move(producers), std::move(consumers),
                         std::move(protocols),    std::move(devices),   std::move(cases),
                         std::move(sizes),        std::move(phases),    std::move(filter),
                         std::move(device_kinds)};
           }),
           py::kw_only(), py::arg("environments") = Words{"default"},
           py::arg("producers") = Words{}, py::arg("consumers") = Words{},
           py::arg("protocols") = Words{}, py::arg("devices") = Words{}, py::arg("cases") = Words{},
           py::arg("sizes") = std::vector<std::uint64_t>{}, py::arg("phases") = Words{},
           py::arg("filter") = "",
           py::arg("device_kinds") = std::vector<std::tuple<std::string, int, std::string>>{},
           "`device_kinds`: (name, count, why there is none) each.")
      .def_readwrite("environments", &Axes::environments)
      .def_readwrite("producers", &Axes::producers)
      .def_readwrite("consumers", &Axes::consumers)
      .def_readwrite("protocols", &Axes::protocols)
      .def_readwrite("devices", &Axes::devices)
      .def_readwrite("cases", &Axes::cases)
      .def_readwrite("sizes", &Axes::sizes)
      .def_readwrite("phases", &Axes::phases)
      .def_readwrite("filter", &Axes::filter);
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
      .def_property_readonly("fingerprint", [](const Plan& plan) { return plan.fingerprint; });
  module.def("parse_device", &plan::parse_device, py::arg("word"), py::arg("libraries"),
             "\"cuda\" -> \"cuda:0\". Raises UsageError for what is no device of a known kind.");
  module.def("make_plan", &plan::make, py::arg("libraries"), py::arg("axes"),
             "Expands the axes. Raises UsageError for what is unknown.");
}

}  // namespace dlbench::bindings
