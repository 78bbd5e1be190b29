// The device room of a process, for the worker, the native halves and Python alike.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "device/about.hpp"
#include "device/backends.hpp"
#include "device/shared.hpp"

namespace {

using dlbench::device::Backend;
using dlbench::device::backend_names;
using dlbench::device::Shared;

PyObject* backend(PyObject*, PyObject* name) {
  Py_ssize_t length = 0;
  const char* text = PyUnicode_AsUTF8AndSize(name, &length);
  if (text == nullptr) return nullptr;
  const Backend* found = dlbench::device::backend({text, static_cast<std::size_t>(length)});
  if (found == nullptr) return PyErr_Format(PyExc_KeyError, "%U", name);
  const std::string state(name_of(found->state));
  return Py_BuildValue("(ssi)", state.c_str(), found->said.c_str(), found->count);
}

PyObject* names(PyObject*, PyObject*) {
  PyObject* all = PyTuple_New(static_cast<Py_ssize_t>(backend_names.size()));
  for (std::size_t i = 0; all != nullptr && i < backend_names.size(); ++i) {
    PyTuple_SET_ITEM(all, static_cast<Py_ssize_t>(i),
                     PyUnicode_FromStringAndSize(backend_names[i].data(),
                                                 static_cast<Py_ssize_t>(backend_names[i].size())));
  }
  return all;
}

PyObject* about(PyObject*, PyObject* name) {
  Py_ssize_t length = 0;
  const char* text = PyUnicode_AsUTF8AndSize(name, &length);
  if (text == nullptr) return nullptr;
  const auto told = dlbench::device::about({text, static_cast<std::size_t>(length)});
  PyObject* units = PyList_New(0);
  for (const dlbench::device::Unit& unit : told.units) {
    PyObject* one = units == nullptr ? nullptr
                                     : Py_BuildValue("(sss)", unit.name.c_str(), unit.uuid.c_str(),
                                                     unit.mode.c_str());
    if (one == nullptr || PyList_Append(units, one) != 0) Py_CLEAR(units);
    Py_XDECREF(one);
  }
  if (units == nullptr) return nullptr;
  return Py_BuildValue("(ssN)", told.library.c_str(), told.version.c_str(), units);
}

PyMethodDef functions[] = {
    {"names", &names, METH_NOARGS, "names()\n--\n\nThe kinds of device that have a table."},
    {"backend", &backend, METH_O,
     "backend(name, /)\n--\n\n(state, said, count) of a kind of device; its first call looks for "
     "the driver. Raises\nKeyError for another name."},
    {"about", &about, METH_O,
     "about(name, /)\n--\n\n(library, version, [(name, uuid, mode), ...]) as the driver tells; "
     "empty where it does not."},
    {}};

PyModuleDef module{PyModuleDef_HEAD_INIT,
                   "_device",
                   "The devices of this process: one room, whoever asks.",
                   -1,
                   functions,
                   nullptr,
                   nullptr,
                   nullptr,
                   nullptr};

Shared shared{&dlbench::device::backend};

}  // namespace

PyMODINIT_FUNC PyInit__device() {
  PyObject* created = PyModule_Create(&module);
  PyObject* capsule =
      created != nullptr ? PyCapsule_New(&shared, dlbench::device::shared_name, nullptr) : nullptr;
  if (capsule == nullptr || PyModule_AddObject(created, "shared", capsule) != 0) {
    Py_XDECREF(capsule);
    Py_CLEAR(created);
  }
  return created;
}
