#include "worker/base/py.hpp"

#include <algorithm>
#include <string_view>

namespace dlbench::worker {
namespace {

constexpr std::size_t kLongestReason = 400;

std::string utf8(const Ref& text) {
  Py_ssize_t size = 0;
  if (const char* bytes = text ? PyUnicode_AsUTF8AndSize(text.get(), &size) : nullptr) {
    return {bytes, static_cast<std::size_t>(size)};
  }
  PyErr_Clear();
  // A lone surrogate cannot be encoded, so it is escaped.
  const Ref spelled = Ref::steal(
      text ? PyUnicode_AsEncodedString(text.get(), "utf-8", "backslashreplace") : nullptr);
  char* bytes = nullptr;
  if (!spelled || PyBytes_AsStringAndSize(spelled.get(), &bytes, &size) != 0) {
    PyErr_Clear();
    return "?";
  }
  return {bytes, static_cast<std::size_t>(size)};
}

// The first line with content: some messages begin with a blank line, or with a heading that ends
// in a colon.
std::string first_line(std::string_view text) {
  constexpr const char* kBlank = " \t\r\n";
  std::string line;
  while (line.empty() || line.back() == ':') {
    text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
    if (text.empty()) break;
    const std::string_view next = text.substr(0, text.find_first_of("\r\n"));
    if (!line.empty()) line += ' ';
    line += next.substr(0, next.find_last_not_of(kBlank) + 1);
    text.remove_prefix(next.size());
  }
  return line.substr(0, kLongestReason);
}

// Nothing is imported: if an import of dlbench.adapter failed, another would fail here without end.
bool is_unsupported(PyObject* type) {
  PyObject* const adapter = PyDict_GetItemString(PyImport_GetModuleDict(), "dlbench.adapter");
  const Ref unsupported =
      Ref::steal(adapter == nullptr ? nullptr : PyObject_GetAttrString(adapter, "Unsupported"));
  if (!unsupported) PyErr_Clear();
  return unsupported && PyErr_GivenExceptionMatches(type, unsupported.get());
}

}  // namespace

std::string text_of(PyObject* object) {
  return utf8(Ref::steal(PyObject_Str(object)));
}
std::string repr_of(PyObject* object) {
  return utf8(Ref::steal(PyObject_Repr(object)));
}

PyObject* adapter_attribute(const char* name) {
  static PyObject* const adapter = checked(PyImport_ImportModule("dlbench.adapter")).release();
  // The module keeps its classes alive and is never unloaded.
  return checked(PyObject_GetAttrString(adapter, name)).get();
}

Failure fetch_failure(Outcome otherwise) {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  const Ref owned_type = Ref::steal(type), owned_value = Ref::steal(value);
  const Ref owned_trace = Ref::steal(trace);
  if (!owned_type) return {otherwise, "", "the call failed without an exception"};
  Failure failure{otherwise, reinterpret_cast<PyTypeObject*>(type)->tp_name, ""};
  if (const std::size_t dot = failure.exception.rfind('.'); dot != std::string::npos) {
    failure.exception.erase(0, dot + 1);
  }
  if (value != nullptr) failure.reason = first_line(text_of(value));
  if (failure.reason.empty()) failure.reason = failure.exception;
  if (PyErr_GivenExceptionMatches(type, PyExc_MemoryError)) {
    failure.outcome = Outcome::out_of_memory;
  } else if (is_unsupported(type)) {
    failure.outcome = Outcome::unsupported;
    failure.exception.clear();
  }
  return failure;
}

std::string message_of(const Failure& failure) {
  const bool named = failure.exception.empty() || failure.reason == failure.exception;
  return named ? failure.reason : failure.exception + ": " + failure.reason;
}

Ref optional_attribute(PyObject* object, const char* name) {
  PyObject* value = PyObject_GetAttrString(object, name);
  if (value == nullptr) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) throw fetch_failure();
    PyErr_Clear();
  }
  return Ref::steal(value);
}

bool has_gil() {
  const Ref sys = checked(PyImport_ImportModule("sys"));
  const Ref enabled = optional_attribute(sys.get(), "_is_gil_enabled");
  return !enabled || PyObject_IsTrue(checked(PyObject_CallNoArgs(enabled.get())).get()) == 1;
}

bool had_gil_at_start() {
  static const bool had = has_gil();
  return had;
}

}  // namespace dlbench::worker
