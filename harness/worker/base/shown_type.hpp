#pragma once

#include <cstddef>
#include <vector>

#include "worker/base/py.hpp"

namespace dlbench::worker {

/// A method that takes keywords, as the interpreter calls it without a tuple.
using FastMethod = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);
PyMethodDef method(const char* name, FastMethod function);

/// A Python type that shows what is put into it, and nothing else. The type points into the lists,
/// so these stay as long as it does.
struct ShownType {
  std::vector<PyMethodDef> methods;
  std::vector<PyGetSetDef> properties;
  getbufferproc buffer = nullptr;
  Ref type;

  /// Once, after the rest was filled in. Throws Failure.
  void make(const char* name, std::size_t size, destructor dealloc);
  PyTypeObject* get() const { return reinterpret_cast<PyTypeObject*>(type.get()); }
};

}  // namespace dlbench::worker
