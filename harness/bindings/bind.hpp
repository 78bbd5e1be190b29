#pragma once

#include <pybind11/pybind11.h>

namespace dlbench::bindings {

/// Raises the audit event `dlbench.start_process`, as Python does for its own processes.
inline void audit_start() {
  if (PySys_Audit("dlbench.start_process", nullptr) != 0) throw pybind11::error_already_set();
}

/// A constructor with the attributes of the class as keyword arguments.
template <typename Made>
auto init_from_attributes() {
  return pybind11::init([](const pybind11::kwargs& words) {
    Made made;
    const pybind11::object self = pybind11::cast(&made, pybind11::return_value_policy::reference);
    for (const auto& [name, value] : words) self.attr(name) = value;
    return made;
  });
}

void bind_model(pybind11::module_& module);
void bind_plan(pybind11::module_& module);
void bind_supervisor(pybind11::module_& module);
void bind_worker(pybind11::module_& module);
void bind_results(pybind11::module_& module);
void bind_stats(pybind11::module_& module);
void bind_compare(pybind11::module_& module);

}  // namespace dlbench::bindings
