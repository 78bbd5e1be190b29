#pragma once

#include <dlpack/dlpack.h>

#include <memory>
#include <new>
#include <span>
#include <string_view>

#include "../native/python.hpp"
#include "delay.hpp"

namespace dlbench::faulty {

/// The Python object Fault(name, value): a fault and its parameter. `kind` is an index into the
/// module's list of names.
struct Fault {
  PyObject ob_base;
  std::size_t kind;
  std::uint64_t number;          // the parameter as a number
  std::shared_ptr<Delay> delay;  // shared, because deleters may outlive the fault
  DLPackVersion version;
};

inline PyTypeObject fault_type{};
inline std::span<const std::string_view> fault_names;

inline Fault* fault_of(PyObject* object) {
  return reinterpret_cast<Fault*>(object);
}

/// Reads the parameter: a pair of ints is a version, a number is nanoseconds or a number of steps.
inline bool read_value(PyObject* value, std::uint64_t& ns, DLPackVersion& version) {
  if (value == nullptr || value == Py_None) return true;
  if (PyTuple_Check(value)) {
    return PyArg_ParseTuple(value, "II:Fault", &version.major, &version.minor) != 0;
  }
  const double number = PyFloat_AsDouble(value);
  if (number == -1 && PyErr_Occurred()) return false;
  if (!(number >= 0 && number < 3.6e12)) {
    PyErr_SetString(PyExc_ValueError, "a delay must be from 0 to 3.6e12 ns");
    return false;
  }
  ns = static_cast<std::uint64_t>(number);
  return true;
}

inline PyObject* make_fault(PyTypeObject* type, PyObject* arguments, PyObject*) {
  const char* name = nullptr;
  PyObject* value = nullptr;
  std::uint64_t ns = 0;
  DLPackVersion version{DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  if (!PyArg_ParseTuple(arguments, "s|O:Fault", &name, &value) || !read_value(value, ns, version)) {
    return nullptr;
  }
  const auto known = std::ranges::find(fault_names, std::string_view(name));
  if (known == fault_names.end()) {
    PyErr_Format(PyExc_ValueError, "unknown fault '%s'", name);
    return nullptr;
  }
  PyObject* self = type->tp_alloc(type, 0);
  if (self == nullptr) return nullptr;
  Fault* fault = fault_of(self);
  fault->kind = static_cast<std::size_t>(known - fault_names.begin());
  fault->number = ns;
  fault->version = version;
  new (&fault->delay) std::shared_ptr<Delay>(std::make_shared<Delay>(ns));
  return self;
}

inline void free_fault(PyObject* self) {
  std::destroy_at(&fault_of(self)->delay);
  Py_TYPE(self)->tp_free(self);
}

inline PyObject* delays(PyObject* self, PyObject*) {
  const Delay::Taken taken = fault_of(self)->delay->taken();
  return Py_BuildValue("{s:K,s:d,s:d}", "count", static_cast<unsigned long long>(taken.count),
                       "mean_ns", taken.mean_ns, "usual_ns", taken.usual_ns);
}

inline constexpr const char* kDelaysDoc =
    "delays($self, /)\n--\n\nThe real durations of the planted delays: `count`, `mean_ns` of all, "
    "and\n`usual_ns`, the mean of the middle nine tenths of the last 512.";

/// `methods` must have `delays` and live as long as the module.
inline bool ready_fault_type(const char* name, std::span<const std::string_view> names,
                             PyMethodDef* methods) {
  fault_names = names;
  dlbench::name_type(
      fault_type, name,
      "Fault(name, value=None, /)\n--\n\nOne planted fault. `value` is nanoseconds of "
      "a delay, a number of steps, or a version (major, minor).",
      sizeof(Fault), &free_fault);
  fault_type.tp_new = &make_fault;
  fault_type.tp_methods = methods;
  return PyType_Ready(&fault_type) == 0;
}

/// New reference to a tuple of the names, or null with an exception set.
inline PyObject* tuple_of_names(std::span<const std::string_view> names) {
  dlbench::Ref tuple(PyTuple_New(static_cast<Py_ssize_t>(names.size())));
  for (std::size_t i = 0; tuple && i < names.size(); ++i) {
    PyObject* text =
        PyUnicode_FromStringAndSize(names[i].data(), static_cast<Py_ssize_t>(names[i].size()));
    if (text == nullptr) return nullptr;
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), text);
  }
  return tuple.release();
}

}  // namespace dlbench::faulty
