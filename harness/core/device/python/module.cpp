// The module `_device`: the devices of a process, for the worker, the native producer and consumer,
// and Python.
#define PY_SSIZE_T_CLEAN
#include "exchange/python/module.hpp"

#include <Python.h>

#include <stdexcept>

#include "device/about.hpp"
#include "device/backends.hpp"
#include "device/characterize.hpp"
#include "device/owners.hpp"
#include "device/shared.hpp"
#include "device/vendors/hip.hpp"

namespace {

using dlbench::device::Backend;
using dlbench::device::backend_names;
using dlbench::device::Shared;
using dlbench::device::Table;

PyObject* backend(PyObject*, PyObject* name) {
  Py_ssize_t length = 0;
  const char* text = PyUnicode_AsUTF8AndSize(name, &length);
  if (text == nullptr) return nullptr;
  const Backend* found = dlbench::device::backend({text, static_cast<std::size_t>(length)});
  if (found == nullptr) return PyErr_Format(PyExc_KeyError, "%U", name);
  const std::string state(name_of(found->state));
  return Py_BuildValue("(ssi)", state.c_str(), found->detail.c_str(), found->count);
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
  const auto facts = dlbench::device::about({text, static_cast<std::size_t>(length)});
  PyObject* units = PyList_New(0);
  for (const dlbench::device::Unit& unit : facts.units) {
    PyObject* one = units == nullptr ? nullptr
                                     : Py_BuildValue("(sss)", unit.name.c_str(), unit.uuid.c_str(),
                                                     unit.mode.c_str());
    if (one == nullptr || PyList_Append(units, one) != 0) Py_CLEAR(units);
    Py_XDECREF(one);
  }
  if (units == nullptr) return nullptr;
  return Py_BuildValue("(ssN)", facts.library.c_str(), facts.version.c_str(), units);
}

/// Calls `measure(table)` while the device is current. Throws std::runtime_error.
template <typename Measure>
auto measured_in(const char* name, int ordinal, Measure&& measure) {
  const Backend* found = dlbench::device::backend(name);
  if (found == nullptr || found->table == nullptr) {
    throw std::runtime_error(found == nullptr ? "unknown kind of device" : found->detail);
  }
  const dlbench::device::Entered inside(*found->table, ordinal);
  if (inside.code() != 0) {
    throw std::runtime_error(line(*found->table, "entering the device", inside.code()));
  }
  return measure(*found->table);
}

/// The items of `measure()` as a list, each converted by `object`; null with an exception set.
template <typename Measure, typename Object>
PyObject* list_of(Measure&& measure, Object&& object) {
  try {
    const auto items = measure();
    PyObject* list = PyList_New(0);
    for (const auto& item : items) {
      PyObject* one = list == nullptr ? nullptr : object(item);
      if (one == nullptr || PyList_Append(list, one) != 0) Py_CLEAR(list);
      Py_XDECREF(one);
    }
    return list;
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
    return nullptr;
  }
}

PyObject* timer_steps(PyObject*, PyObject* arguments) {
  const char* name = nullptr;
  int ordinal = 0;
  unsigned count = 0;
  if (!PyArg_ParseTuple(arguments, "siI", &name, &ordinal, &count)) return nullptr;
  const auto measure = [=](const Table& table) { return measure_timer_steps(table, count); };
  return list_of([&] { return measured_in(name, ordinal, measure); },
                 [](std::int64_t step) { return PyLong_FromLongLong(step); });
}

PyObject* empty_events(PyObject*, PyObject* arguments) {
  const char* name = nullptr;
  int ordinal = 0;
  unsigned count = 0;
  long long hold_ns = 0;
  if (!PyArg_ParseTuple(arguments, "siIL", &name, &ordinal, &count, &hold_ns)) return nullptr;
  const auto measure = [=](const Table& table) {
    return measure_empty_events(table, count, hold_ns);
  };
  return list_of([&] { return measured_in(name, ordinal, measure); },
                 [](double time) { return PyFloat_FromDouble(time); });
}

PyObject* stream_order(PyObject*, PyObject* arguments) {
  const char* name = nullptr;
  int ordinal = 0;
  unsigned streams = 0;
  long long delay_ns = 0;
  if (!PyArg_ParseTuple(arguments, "siIL", &name, &ordinal, &streams, &delay_ns)) return nullptr;
  const auto measure = [=](const Table& table) { return order_streams(table, streams, delay_ns); };
  return list_of([&] { return measured_in(name, ordinal, measure); },
                 [](const auto& order) {
                   std::string beside;
                   for (const bool ran : order.ran_beside) beside += ran ? '1' : '0';
                   return Py_BuildValue("(OOs)", order.was_busy ? Py_True : Py_False,
                                        order.was_ordered_on_itself ? Py_True : Py_False,
                                        beside.c_str());
                 });
}

PyMethodDef functions[] = {
    {"names", &names, METH_NOARGS, "names()\n--\n\nThe kinds of device that have a table."},
    {"backend", &backend, METH_O,
     "backend(name, /)\n--\n\n(state, detail, count) of a kind of device. The first call opens "
     "the driver. Raises\nKeyError for an unknown name."},
    {"about", &about, METH_O,
     "about(name, /)\n--\n\n(library, version, [(name, uuid, mode), ...]) from the driver; "
     "unknown values are empty."},
    {"timer_steps", &timer_steps, METH_VARARGS,
     "timer_steps(name, ordinal, count, /)\n--\n\nDifferences between consecutive readings of the "
     "device's timer, in ns."},
    {"empty_events", &empty_events, METH_VARARGS,
     "empty_events(name, ordinal, count, hold_ns, /)\n--\n\nTimes between two adjacent events, in "
     "ns, after a delay of hold_ns\nunless that is 0."},
    {"stream_order", &stream_order, METH_VARARGS,
     "stream_order(name, ordinal, streams, delay_ns, /)\n--\n\nFor each stream that is kept busy: "
     "(was busy, was ordered on itself, a digit for each stream:\n1 if it ran concurrently with "
     "the "
     "busy one)."},
    {}};

PyModuleDef module = dlbench::define_module(
    "_device", "The devices of this process, shared by all modules.", functions);

/// The folders of sys.path, without items that are not UTF-8 text.
std::vector<std::string> import_folders() {
  std::vector<std::string> folders;
  PyObject* const path = PySys_GetObject("path");  // borrowed
  if (path == nullptr || !PyList_Check(path)) return folders;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(path); ++i) {
    const char* const folder = PyUnicode_Check(PyList_GET_ITEM(path, i))
                                   ? PyUnicode_AsUTF8(PyList_GET_ITEM(path, i))
                                   : nullptr;
    if (folder != nullptr && *folder != '\0') folders.emplace_back(folder);
    PyErr_Clear();
  }
  return folders;
}

Shared shared{&dlbench::device::backend, &dlbench::device::loaded_files_of};

}  // namespace

PyMODINIT_FUNC PyInit__device() {
  dlbench::device::hip::search_packages(import_folders());
  PyObject* created = dlbench::create_module(module);
  PyObject* capsule =
      created != nullptr ? PyCapsule_New(&shared, dlbench::device::shared_name, nullptr) : nullptr;
  if (capsule == nullptr || PyModule_AddObject(created, "shared", capsule) != 0) {
    Py_XDECREF(capsule);
    Py_CLEAR(created);
  }
  return created;
}
