#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "bindings/bind.hpp"
#include "model/build.hpp"
#include "supervisor/supervisor.hpp"

namespace py = pybind11;

namespace dlbench::bindings {
namespace {

using supervisor::Options;
using supervisor::Summary;

class PythonObserver : public supervisor::Observer {
 public:
  explicit PythonObserver(const py::object& observer)
      : on_progress_(observer.attr("on_progress")),
        on_recorded_(observer.attr("on_recorded")),
        on_covered_(observer.attr("on_covered")) {}

  void progress(std::size_t done, std::size_t total, const std::string& doing) override {
    const py::gil_scoped_acquire gil;
    on_progress_(done, total, doing);
  }

  void recorded(const Entry& entry) override {
    const py::gil_scoped_acquire gil;
    on_recorded_(name(entry.cell), std::string(to_string(entry.outcome)), entry.median_ns);
  }

  void covered() override {
    const py::gil_scoped_acquire gil;
    on_covered_();
  }

 private:
  py::object on_progress_, on_recorded_, on_covered_;
};

Options options_from(const py::dict& given) {
  Options made;
  for (const auto& [key, value] : given) {
    const auto name = key.cast<std::string_view>();
#define DLBENCH_OPTION(type, option)                   \
  if (name == #option)                                 \
    made.option = value.cast<decltype(made.option)>(); \
  else
#include "supervisor/options.def"
#undef DLBENCH_OPTION
    throw py::key_error(std::string(name));
  }
  made.build_id = build_id();
  return made;
}

// Runs without the GIL, so that another thread can draw a progress bar.
Summary run(const plan::Plan& plan, const py::dict& given, const py::object& observer) {
  audit_start();
  const Options options = options_from(given);
  PythonObserver python_observer(observer);
  const py::gil_scoped_release no_gil;
  return supervisor::run(plan, options, python_observer);
}

void bind_order(py::module_& module) {
  using supervisor::ImportOrder;
  py::class_<ImportOrder>(
      module, "ImportOrder",
      "A library that cannot be imported after `before`. The other order works.")
      .def(py::init([](std::string environment, std::string library, std::string before,
                       const std::string& outcome, std::string reason) {
             return ImportOrder{std::move(environment), std::move(library), std::move(before),
                                outcome_from(outcome), std::move(reason)};
           }),
           py::arg("environment"), py::arg("library"), py::arg("before"), py::arg("outcome"),
           py::arg("reason"))
      .def_readonly("environment", &ImportOrder::environment)
      .def_readonly("library", &ImportOrder::library)
      .def_readonly("before", &ImportOrder::before)
      .def_property_readonly(
          "outcome", [](const ImportOrder& order) { return std::string(to_string(order.outcome)); })
      .def_readonly("reason", &ImportOrder::reason);
}

}  // namespace

void bind_supervisor(py::module_& module) {
  bind_order(module);
  py::class_<Summary>(module, "Summary", "The result of a run; times in seconds.")
      .def_readonly("wall_s", &Summary::wall_s)
      .def_readonly("round_s", &Summary::round_s)
      .def_readonly("timing_after_import_s", &Summary::timing_after_import_s)
      .def_readonly("library_after_import_s", &Summary::library_after_import_s)
      .def_readonly("last_import_s", &Summary::last_import_s)
      .def_readonly("budget_used_s", &Summary::budget_used_s)
      .def_readonly("recorded", &Summary::recorded)
      .def_readonly("measured", &Summary::measured)
      .def_readonly("orders", &Summary::orders)
      .def_readonly("signal", &Summary::signal)
      .def_readonly("disk_full", &Summary::disk_full);
  module.def("run", &run, py::arg("plan"), py::arg("options"), py::arg("observer"),
             "Measures the cells of the plan and writes the journal. The observer has "
             "on_progress(done, total, activity), on_recorded(name, outcome, median_ns) and "
             "on_covered().");
}

}  // namespace dlbench::bindings
