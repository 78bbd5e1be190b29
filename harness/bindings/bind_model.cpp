#include <pybind11/stl.h>

#include "bindings/bind.hpp"
#include "model/build.hpp"
#include "model/cell.hpp"
#include "model/codes.hpp"
#include "model/error.hpp"
#include "model/names.hpp"
#include "model/outcome.hpp"
#include "model/units.hpp"
#include "supervisor/plan/plan.hpp"
#include "trace/nvtx.hpp"

namespace py = pybind11;

namespace dlbench::bindings {
namespace {

template <typename Words>
std::vector<std::string> texts(const Words& words) {
  return {words.begin(), words.end()};
}

py::dict case_facts(const std::string& wanted) {
  const plan::Case one = plan::case_named(wanted);
  py::dict facts;
  facts["name"] = one.name;
  facts["dtype"] = one.dtype;
  facts["dims"] = one.dims;
  facts["layout"] = one.layout;
  facts["storage"] = one.storage;
  facts["offset"] = one.offset;
  facts["align"] = one.align;
  facts["readonly"] = one.readonly;
  facts["special"] = one.special;
  return facts;
}

void bind_cell(py::module_& module) {
  const auto of_exchange = [](auto member) {
    return py::cpp_function([member](const Cell& cell) { return cell.exchange.*member; });
  };
  py::class_<Cell>(module, "Cell")
      .def_property_readonly("name", [](const Cell& cell) { return name(cell); })
      .def_property_readonly("phase", [](const Cell& cell) { return cell.phase; })
      .def_property_readonly("clock", [](const Cell& cell) { return cell.clock; })
      .def_property_readonly("environment", of_exchange(&Exchange::environment))
      .def_property_readonly("producer", of_exchange(&Exchange::producer))
      .def_property_readonly("consumer", of_exchange(&Exchange::consumer))
      .def_property_readonly("protocol", of_exchange(&Exchange::protocol))
      .def_property_readonly("device", of_exchange(&Exchange::device))
      .def_property_readonly("case", of_exchange(&Exchange::case_name))
      .def_property_readonly("bytes", of_exchange(&Exchange::bytes))
      .def_property_readonly("arrays", of_exchange(&Exchange::arrays))
      .def("__repr__", [](const Cell& cell) { return "<Cell " + name(cell) + ">"; });
}

std::string cell_name(const py::dict& axes) {
  Cell cell;
  each_axis(cell, [&axes](const char* key, auto& value) {
    using Value = std::remove_reference_t<decltype(value)>;
    if (axes.contains(key)) value = axes[key].template cast<Value>();
  });
  return name(cell);
}

}  // namespace

void bind_model(py::module_& module) {
  py::register_exception<UsageError>(module, "UsageError", PyExc_ValueError);
  module.def("parse_bytes", &parse_bytes, py::arg("text"), "'4KiB' -> 4096.");
  module.def("parse_seconds", &parse_seconds, py::arg("text"), "'90s' -> 90.0.");
  module.def("parse_percent", &parse_percent, py::arg("text"), "'2%' -> 0.02.");
  module.def(
      "format_number", &format_number, py::arg("value"), py::arg("half_width") = 0.0,
      "1.4812 -> '1.48': three digits, two where the half-width does not support the third.");
  module.def("format_share", &format_share, py::arg("share"), "0.031 -> '3.1 %'.");
  module.def("format_duration", &format_duration, py::arg("ns"), py::arg("half_width") = 0.0,
             "1733 -> '1.73 us', with the digits of format_number().");
  module.def("format_bytes", &format_bytes, py::arg("bytes"), "4096 -> '4 KiB'.");
  module.def(
      "did_you_mean",
      [](const std::string& wanted, const std::vector<std::string>& allowed) {
        return did_you_mean(wanted, allowed);
      },
      py::arg("wanted"), py::arg("allowed"),
      "\" (did you mean 'x'?)\" with the allowed word nearest to the wanted one, or an empty text "
      "if no word is near.");
  module.def(
      "require_known",
      [](const std::string& what, const std::string& wanted,
         const std::vector<std::string>& allowed) { require_known(what, wanted, allowed); },
      py::arg("what"), py::arg("wanted"), py::arg("allowed"),
      "Raises UsageError \"unknown WHAT 'wanted' (did you mean 'x'?); allowed: ...\" unless "
      "`wanted` is allowed.");
  module.def(
      "call_for",
      [](const std::string& protocol, const std::vector<std::string>& offered) {
        return std::string(call_for(protocol, offered));
      },
      py::arg("protocol"), py::arg("offered"),
      "The entry of a consumer's PROTOCOLS that imports through this protocol, or '' if none "
      "does.");
  module.attr("protocols") = texts(kProtocols);
  module.attr("phases") = texts(kPhases);
  module.attr("clocks") = texts(kClocks);
  module.def(
      "case_names",
      [] {
        std::vector<std::string> names;
        for (const plan::Case& one : plan::all_cases()) names.push_back(one.name);
        return names;
      },
      "The cases of `--cases all`.");
  py::dict axes;
  for (const plan::CaseAxis& axis : plan::case_axes()) {
    py::dict meanings;
    for (const plan::AxisValue& value : axis.values) meanings[py::str(value.word)] = value.meaning;
    axes[py::str(axis.name)] = meanings;
  }
  module.attr("case_axes") = axes;
  py::dict kinds;
  for (const plan::LibraryKind& kind : plan::library_kinds()) {
    kinds[py::str(kind.word)] = py::make_tuple(kind.meaning, kind.producers);
  }
  module.attr("library_kinds") = kinds;
  module.def("is_case", &plan::is_case, py::arg("name"));
  module.def("case", &case_facts, py::arg("name"),
             "The layout of a case's array: the `case` of a prepare request.");
  module.attr("outcomes") = texts(kOutcomes);
  py::dict meanings;
  for (const codes::Meaning& one : codes::kAll) {
    meanings[py::str(one.code)] = py::make_tuple(one.outcome, one.text);
  }
  module.attr("codes") = meanings;
  const auto bind_meanings = [&module](const char* name, const auto& all) {
    py::dict texts;
    for (const codes::CodeMeaning& one : all) texts[py::str(one.code)] = one.text;
    module.attr(name) = texts;
  };
  bind_meanings("warnings", codes::kWarnings);
  bind_meanings("comparison_warnings", codes::kComparisonWarnings);
  bind_meanings("sync_codes", codes::kSyncReasons);
  module.attr("version") = std::string(version());
  module.attr("build_id") = std::string(build_id());
  module.attr("nvtx") = std::string(trace::nvtx::version());
  bind_cell(module);
  module.def("cell_name", &cell_name, py::arg("axes"),
             "The name of a cell, from its axes by JSON key; without a machine if it is absent.");
}

}  // namespace dlbench::bindings
