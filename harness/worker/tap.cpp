#include "worker/tap.hpp"

#include <algorithm>

namespace dlbench::worker {
namespace {
// A consumer that polls must not fill the memory.
constexpr std::size_t kMostCalls = 32;

std::string compact(PyObject* value) {
  std::string text = repr_of(value);
  std::erase(text, ' ');
  return text.substr(0, 80);
}
}  // namespace

void Tap::answered(std::string protocol, std::string call) {
  if (!protocol.empty()) used_ = std::move(protocol);
  if (calls_.size() < kMostCalls) calls_.push_back(std::move(call));
}

void Tap::raised(std::string call) {
  std::string type = "an error";
  if (PyObject* pending = PyErr_Occurred()) {
    type = reinterpret_cast<PyTypeObject*>(pending)->tp_name;
    type.erase(0, type.rfind('.') + 1);
  }
  if (calls_.size() < kMostCalls) calls_.push_back(std::move(call) + " -> " + type);
}

std::string spell_call(const char* name, PyObject* const* arguments, Py_ssize_t positional,
                       PyObject* keyword_names) {
  std::string text = std::string(name) + "(";
  const Py_ssize_t keywords = keyword_names == nullptr ? 0 : PyTuple_GET_SIZE(keyword_names);
  for (Py_ssize_t i = 0; i < positional + keywords; ++i) {
    if (i > 0) text += ",";
    if (i >= positional) text += text_of(PyTuple_GET_ITEM(keyword_names, i - positional)) + "=";
    text += compact(arguments[i]);
  }
  return text + ")";
}

std::uintptr_t address_in(PyObject* handed_over) try {
  if (PyCapsule_IsValid(handed_over, "dltensor") ||
      PyCapsule_IsValid(handed_over, "dltensor_versioned")) {
    return view_of_capsule(handed_over).address;
  }
  return view_of_description(handed_over).address;
} catch (const Failure&) {
  return 0;
} catch (const exchange::ViewError&) {
  return 0;
}

}  // namespace dlbench::worker
