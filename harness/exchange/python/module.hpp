#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace dlbench {

// State that the GIL protects is one for each thread where Python runs without a GIL.
#ifdef Py_GIL_DISABLED
#define DLBENCH_UNDER_GIL thread_local
#else
#define DLBENCH_UNDER_GIL
#endif

/// A module of this content.
inline PyModuleDef define_module(const char* name, const char* doc, PyMethodDef* methods) {
  return {PyModuleDef_HEAD_INIT, name, doc, -1, methods, nullptr, nullptr, nullptr, nullptr};
}

/// A new module that runs without the GIL: what several threads reach in it is constant, atomic,
/// locked, or DLBENCH_UNDER_GIL. Without this declaration its import enables the GIL again, and
/// numbers of a free-threaded Python would be measured with it. Null with an exception set.
inline PyObject* create_module(PyModuleDef& definition) {
  PyObject* module = PyModule_Create(&definition);
#ifdef Py_GIL_DISABLED
  if (module != nullptr && PyUnstable_Module_SetGIL(module, Py_MOD_GIL_NOT_USED) != 0) {
    Py_CLEAR(module);
  }
#endif
  return module;
}

}  // namespace dlbench
