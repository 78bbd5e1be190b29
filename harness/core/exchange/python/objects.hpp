#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <memory>
#include <span>

namespace dlbench {

struct Decref {
  void operator()(PyObject* object) const { Py_DECREF(object); }
};
/// Owns one reference.
using Ref = std::unique_ptr<PyObject, Decref>;

/// A tuple of Python ints, or null with an exception set.
template <typename Integer>
PyObject* tuple_of(std::span<const Integer> values) {
  Ref tuple(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
  for (std::size_t i = 0; tuple && i < values.size(); ++i) {
    PyObject* number = PyLong_FromLongLong(values[i]);
    if (number == nullptr) return nullptr;
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), number);
  }
  return tuple.release();
}

/// Sets the common fields of a static type, whose instances have no reference to it.
inline void name_type(PyTypeObject& type, const char* name, const char* doc, Py_ssize_t size,
                      destructor dealloc) {
  Py_SET_REFCNT(reinterpret_cast<PyObject*>(&type), 1);
  type.tp_name = name;
  type.tp_doc = doc;
  type.tp_basicsize = size;
  type.tp_flags = Py_TPFLAGS_DEFAULT;
  type.tp_dealloc = dealloc;
}

}  // namespace dlbench
