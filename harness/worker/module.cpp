#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <unistd.h>

#include <csignal>
#include <system_error>

#include "exchange/python/module.hpp"
#include "worker/library/process_state.hpp"
#include "worker/serve.hpp"
#include "worker/timing/block.hpp"
#include "worker/timing/counted.hpp"

namespace {

using dlbench::Failure;
using dlbench::worker::Block;
using dlbench::worker::ImportCall;

PyObject* serve(PyObject*, PyObject* arguments) {
  int in = 0, out = 0;
  if (!PyArg_ParseTuple(arguments, "ii:serve", &in, &out)) return nullptr;
  try {
    dlbench::worker::serve(in, out);
  } catch (const Failure& failure) {
    PyErr_SetString(PyExc_RuntimeError, failure.reason.c_str());
    return nullptr;
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
    return nullptr;
  }
  Py_RETURN_NONE;
}

// A worker must not outlive its parent. The parent may have ended already.
PyObject* die_with_parent(PyObject*, PyObject* expected_parent) {
  const long parent = PyLong_AsLong(expected_parent);
  if (parent == -1 && PyErr_Occurred()) return nullptr;
#ifdef __linux__
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return PyErr_SetFromErrno(PyExc_OSError);
#endif
  if (parent > 0 && ::getppid() != parent) ::_exit(1);
  Py_RETURN_NONE;
}

// For benchmarks of dlbench itself: the timed loop of a cell, in the caller's process.
PyObject* round(PyObject*, PyObject* arguments) {
  PyObject *spelled = nullptr, *x = nullptr;
  unsigned long long iterations = 0;
  if (!PyArg_ParseTuple(arguments, "OOK:round", &spelled, &x, &iterations)) return nullptr;
  try {
    ImportCall import_call(spelled);
    std::size_t next = 0;
    Block block{import_call, {&x, 1}, next};
    const dlbench::measure::Reading reading = dlbench::measure::round(block.body(), iterations);
    if (reading.valid) return PyFloat_FromDouble(reading.ns);
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "iterations must be at least 1");
  } catch (const Failure& failure) {
    PyErr_SetString(PyExc_RuntimeError, failure.reason.c_str());
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

PyObject* process_state(PyObject*, PyObject*) {
  try {
    return dlbench::worker::process_state().release();
  } catch (const Failure& failure) {
    PyErr_SetString(PyExc_RuntimeError, failure.reason.c_str());
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

PyObject* callgrind_requests(PyObject*, PyObject*) {
  return PyBool_FromLong(dlbench::worker::has_callgrind_requests() ? 1 : 0);
}

PyMethodDef methods[] = {
    {"serve", serve, METH_VARARGS,
     "serve(in_fd, out_fd)\n--\n\nHandle requests until `end` or the end of the "
     "input."},
    {"round", round, METH_VARARGS,
     "round(call, array, iterations)\n--\n\nMean nanoseconds of one exchange over one timed "
     "block."},
    {"callgrind_requests", callgrind_requests, METH_NOARGS,
     "callgrind_requests()\n--\n\nWhether this build can start callgrind's collection, so that "
     "imports need not be instrumented."},
    {"process_state", process_state, METH_NOARGS,
     "process_state()\n--\n\nState that all libraries of this process share, as comparable texts."},
    {"die_with_parent", die_with_parent, METH_O,
     "die_with_parent(parent_pid)\n--\n\nKill this process when its parent ends."},
    {},
};

PyModuleDef definition = dlbench::define_module(
    "_worker", "The worker: imports libraries and measures their exchanges.", methods);

}  // namespace

PyMODINIT_FUNC PyInit__worker() {
  return dlbench::create_module(definition);
}
