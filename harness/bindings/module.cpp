#include "bindings/bind.hpp"

PYBIND11_MODULE(_core, module, pybind11::mod_gil_not_used()) {
  module.doc() = "The supervisor: plans runs, starts workers, writes and checks documents.";
  dlbench::bindings::bind_model(module);
  dlbench::bindings::bind_plan(module);
  dlbench::bindings::bind_supervisor(module);
  dlbench::bindings::bind_worker(module);
  dlbench::bindings::bind_results(module);
  dlbench::bindings::bind_stats(module);
  dlbench::bindings::bind_compare(module);
}
