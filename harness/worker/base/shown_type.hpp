#pragma once

#include <cstddef>
#include <vector>

#include "worker/base/py.hpp"

namespace dlbench::worker {

/// A method with keywords in CPython's fast calling convention.
using FastMethod = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);
PyMethodDef method(const char* name, FastMethod function);

/// A Python type that has exactly these members. The type points into the lists, which must outlive
/// it.
struct ShownType {
  std::vector<PyMethodDef> methods;
  std::vector<PyGetSetDef> properties;
  getbufferproc buffer = nullptr;
  Ref type;

  /// Call once, after the other members are filled in. Throws Failure.
  void make(const char* name, std::size_t size, destructor dealloc);
  PyTypeObject* get() const { return reinterpret_cast<PyTypeObject*>(type.get()); }
};

}  // namespace dlbench::worker
