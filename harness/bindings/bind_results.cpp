#include <pybind11/stl/filesystem.h>

#include <string>

#include "bindings/bind.hpp"
#include "results/document.hpp"

namespace py = pybind11;

namespace dlbench::bindings {

void bind_results(py::module_& module) {
  py::register_exception<results::DiskError>(module, "DiskError", PyExc_OSError);
  module.def(
      "write_document",
      [](const std::filesystem::path& run_directory) {
        return results::write_document(run_directory).string();
      },
      py::arg("run_directory"),
      "journal.jsonl -> results.json, atomically; its path. Raises UsageError for a journal that "
      "cannot be read, DiskError where it cannot be written.");
  module.def("validate_document", &results::validate_document, py::arg("path"),
             "Raises UsageError naming the place of the first fault.");
}

}  // namespace dlbench::bindings
