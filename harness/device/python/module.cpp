// The device room of a process, for the worker, the native halves and Python alike.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <array>

#include "device/shared.hpp"
#include "device/sim.hpp"

namespace {

using dlbench::device::Backend;
using dlbench::device::Shared;
using dlbench::device::State;

constexpr std::array<std::string_view, 1> kNames{"sim"};

const Backend* backend_named(std::string_view name) {
  static const Backend sim{State::Ok, {}, 1, &dlbench::device::sim::table()};
  return name == "sim" ? &sim : nullptr;
}

PyObject* backend(PyObject*, PyObject* name) {
  Py_ssize_t length = 0;
  const char* text = PyUnicode_AsUTF8AndSize(name, &length);
  if (text == nullptr) return nullptr;
  const Backend* found = backend_named({text, static_cast<std::size_t>(length)});
  if (found == nullptr) return PyErr_Format(PyExc_KeyError, "%U", name);
  const std::string state(name_of(found->state));
  return Py_BuildValue("(ssi)", state.c_str(), found->said.c_str(), found->count);
}

PyObject* names(PyObject*, PyObject*) {
  PyObject* all = PyTuple_New(static_cast<Py_ssize_t>(kNames.size()));
  for (std::size_t i = 0; all != nullptr && i < kNames.size(); ++i) {
    PyTuple_SET_ITEM(
        all, static_cast<Py_ssize_t>(i),
        PyUnicode_FromStringAndSize(kNames[i].data(), static_cast<Py_ssize_t>(kNames[i].size())));
  }
  return all;
}

PyMethodDef functions[] = {
    {"names", &names, METH_NOARGS, "names()\n--\n\nThe kinds of device that have a table."},
    {"backend", &backend, METH_O,
     "backend(name, /)\n--\n\n(state, said, count) of a kind of device; its first call looks for "
     "the driver. Raises\nKeyError for another name."},
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

Shared shared{&backend_named};

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
