#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>
#include <memory>
#include <span>

#include "count.hpp"
#include "exchange/python/module.hpp"

namespace dlbench::native {

struct Decref {
  void operator()(PyObject* object) const { Py_DECREF(object); }
};
/// Owns one reference.
using Ref = std::unique_ptr<PyObject, Decref>;

using FastCall = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);

inline PyMethodDef fast_method(const char* name, FastCall function, const char* doc) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)),
          METH_FASTCALL | METH_KEYWORDS, doc};
}

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

/// A static type's common parts. Instances of static types pay no reference to their type.
inline void describe(PyTypeObject& type, const char* name, const char* doc, Py_ssize_t size,
                     destructor dealloc) {
  Py_SET_REFCNT(reinterpret_cast<PyObject*>(&type), 1);
  type.tp_name = name;
  type.tp_doc = doc;
  type.tp_basicsize = size;
  type.tp_flags = Py_TPFLAGS_DEFAULT;
  type.tp_dealloc = dealloc;
}

}  // namespace dlbench::native
