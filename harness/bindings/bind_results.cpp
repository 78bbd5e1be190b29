#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <cerrno>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bind.hpp"
#include "model/error.hpp"
#include "results/comparison/compared_fields.hpp"
#include "results/document.hpp"
#include "results/interval.hpp"
#include "results/journal.hpp"
#include "results/read.hpp"
#include "results/schema/context.hpp"
#include "results/schema/strict_json.hpp"

namespace py = pybind11;

namespace dlbench::bindings {

void bind_results(py::module_& module) {
  py::register_exception<results::DiskError>(module, "DiskError", PyExc_OSError);
  module.attr("near_floor") = results::kNearFloor;
  module.def(
      "write_document",
      [](const std::filesystem::path& run_directory, const std::filesystem::path& to) {
        return results::write_document(run_directory, to).string();
      },
      py::arg("run_directory"), py::arg("to") = "",
      "Writes the document of journal.jsonl, atomically, and returns its path: `to`, or by default "
      "results.json beside the journal. Raises UsageError if the journal cannot be read, and "
      "DiskError if the document cannot be written.");
  module.def(
      "append_end",
      [](const std::filesystem::path& run_directory, double wall_s, int signal) {
        const results::EndRecord end{wall_s, 0, signal};
        results::append_behind(run_directory, {}, {results::line_of(end)});
      },
      py::arg("run_directory"), py::arg("wall_s"), py::arg("signal"),
      "Appends the seconds of the passes after the rounds, and the signal that ended them or 0, to "
      "a run's journal.");
  module.def(
      "append_counts",
      [](const std::filesystem::path& run_directory,
         const std::vector<std::tuple<std::string, std::optional<double>, std::string>>& counts) {
        std::vector<results::CountRecord> records;
        for (const auto& [cell, instructions, failure] : counts) {
          records.push_back({cell, instructions, failure});
        }
        results::append_afterwards(run_directory, records);
      },
      py::arg("run_directory"), py::arg("counts"),
      "Appends (cell, instructions or None, failure) to a run's journal.");
  module.def(
      "append_api_calls",
      [](const std::filesystem::path& run_directory,
         const std::vector<std::tuple<std::string, std::optional<ApiCalls::ByKind>,
                                      std::map<std::string, ApiCalls::ByKind>, std::string>>&
             counted) {
        std::vector<results::ApiRecord> records;
        for (const auto& [cell, calls, phases, failure] : counted) {
          records.push_back({cell, std::nullopt, failure});
          if (calls) records.back().calls = ApiCalls{*calls, phases};
        }
        results::append_afterwards(run_directory, records);
      },
      py::arg("run_directory"), py::arg("counted"),
      "Appends (cell, calls by kind or None, the same by phase, failure) to a run's journal.");
  module.def(
      "append_sync",
      [](const std::filesystem::path& run_directory, const std::string& records) {
        const results::Parsed all = results::parse_strict(records, "sync");
        std::vector<results::SyncRecord> read;
        for (const results::Value& one : all.value().items()) {
          const std::string place = "sync/" + std::to_string(read.size());
          read.push_back(results::sync_record_from(results::Fields(one, place)));
        }
        results::append_afterwards(run_directory, read);
      },
      py::arg("run_directory"), py::arg("records"),
      "Adds synchronization results to a run's journal: a JSON list of objects with the key cell "
      "and, if known, sync, late_free, race and failure. Raises UsageError.");
  module.def(
      "append_capture",
      [](const std::filesystem::path& run_directory, const std::string& record) {
        const results::Parsed read = results::parse_strict(record, "capture");
        results::append_afterwards(
            run_directory,
            std::vector{results::capture_record_from(results::Fields(read.value(), "capture"))});
      },
      py::arg("run_directory"), py::arg("record"),
      "Adds exchanges during a capture to a run's journal: a JSON object with the keys cell and "
      "capture. Raises UsageError.");
  module.def(
      "create_draft",
      [](const std::filesystem::path& target) {
        results::Draft draft;
        if (const int error = results::create_draft(target, 0, draft)) {
          errno = error;
          PyErr_SetFromErrnoWithFilename(PyExc_OSError, target.c_str());
          throw py::error_already_set();
        }
        return std::pair(draft.file.release(), draft.path);
      },
      py::arg("target"),
      "Creates a file under a temporary name beside the target, to be renamed to it before it is "
      "closed. Returns its descriptor and its path. Raises OSError.");
  module.def("validate_document", &results::validate_document, py::arg("path"),
             py::call_guard<py::gil_scoped_release>(),
             "Raises UsageError with the place of the first fault.");
  module.def(
      "schema", [] { return results::describe_document().dump(1); },
      "The JSON schema of results.json.");
  module.def(
      "comparison_schema", [] { return results::describe_comparison().dump(1); },
      "The JSON schema of a comparison.");
  module.attr("most_document_bytes") = results::kMostBytes;
  module.def("validate_comparison", &results::validate_comparison, py::arg("path"),
             py::call_guard<py::gil_scoped_release>(), "The same for a comparison.json.");
  module.def(
      "journal_context",
      [](const std::filesystem::path& journal) {
        const results::JournalContents contents = results::read_journal(journal);
        if (contents.whole_bytes == 0) {
          throw UsageError(journal.string() + ": the journal is empty, so the run did not start");
        }
        return contents.header.context.dump();
      },
      py::arg("journal"), py::call_guard<py::gil_scoped_release>(),
      "The context in a journal's first line, as JSON. Raises UsageError.");
}

}  // namespace dlbench::bindings
