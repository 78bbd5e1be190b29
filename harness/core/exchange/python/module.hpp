#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace dlbench {

// Marks state that the GIL protects; it is thread-local in a Python without a GIL.
#ifdef Py_GIL_DISABLED
#define DLBENCH_UNDER_GIL thread_local
#else
#define DLBENCH_UNDER_GIL
#endif

/// The definition of a module.
inline PyModuleDef define_module(const char* name, const char* doc, PyMethodDef* methods) {
  return {PyModuleDef_HEAD_INIT, name, doc, -1, methods, nullptr, nullptr, nullptr, nullptr};
}

/// Creates a module that runs without the GIL: its shared state is constant, atomic, locked, or
/// DLBENCH_UNDER_GIL. Without this declaration the import enables the GIL of a free-threaded
/// Python. Null with an exception set.
inline PyObject* create_module(PyModuleDef& definition) {
  PyObject* module = PyModule_Create(&definition);
#ifdef Py_GIL_DISABLED
  if (module != nullptr && PyUnstable_Module_SetGIL(module, Py_MOD_GIL_NOT_USED) != 0) {
    Py_CLEAR(module);
  }
#endif
  return module;
}

/// Adds ready types to a module. Returns false with an exception set, also if `module` is null.
inline bool add_types(PyObject* module,
                      std::initializer_list<std::pair<const char*, PyTypeObject*>> types) {
  return module != nullptr && std::all_of(types.begin(), types.end(), [module](const auto& type) {
           return PyModule_AddObjectRef(module, type.first,
                                        reinterpret_cast<PyObject*>(type.second)) == 0;
         });
}

}  // namespace dlbench
