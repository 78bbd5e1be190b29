#pragma once

#include <cstddef>
#include <vector>

#include "worker/base/py.hpp"

namespace dlbench::worker {

/// A method with keywords, in the interpreter's convention without a tuple.
using FastMethod = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);
PyMethodDef method(const char* name, FastMethod function);

/// A Python type that has exactly the given members. The type points into the lists, which must
/// live as long as it does.
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
