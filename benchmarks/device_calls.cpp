// Compares the cost of a call through a device's table with a direct call.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <chrono>

#include "device/shared.hpp"

namespace {

using dlbench::device::Code;
using dlbench::device::Shared;
using dlbench::device::Stream;
using dlbench::device::Table;

using Clock = std::chrono::steady_clock;

[[gnu::noipa]] Code nothing(Stream stream) {
  asm volatile("" : : "r"(stream));
  return 0;
}

const Table* table_named(const char* name) {
  static const Table empty{.name = "empty", .stream_query = nothing};
  if (empty.name == name) return &empty;
  const auto* shared =
      static_cast<const Shared*>(PyCapsule_Import(dlbench::device::shared_name, 0));
  if (shared == nullptr) return nullptr;
  const auto* backend = shared->backend(name);
  if (backend == nullptr || backend->table == nullptr) {
    PyErr_Format(PyExc_LookupError, "%s: %s", name,
                 backend == nullptr ? "no such kind of device" : backend->detail.c_str());
    return nullptr;
  }
  if (backend->table->enter(0) != 0) {
    PyErr_Format(PyExc_RuntimeError, "%s: its first device cannot be entered", name);
    return nullptr;
  }
  return backend->table;
}

template <typename Call>
double timed(unsigned long long iterations, Call&& call) {
  const Clock::time_point begin = Clock::now();
  for (unsigned long long i = 0; i < iterations; ++i) call();
  const std::chrono::duration<double, std::nano> passed = Clock::now() - begin;
  return passed.count() / static_cast<double>(iterations);
}

PyObject* calls(PyObject*, PyObject* arguments) {
  const char* name = nullptr;
  unsigned long long iterations = 0;
  if (!PyArg_ParseTuple(arguments, "sK:calls", &name, &iterations)) return nullptr;
  const Table* table = table_named(name);
  if (table == nullptr) return nullptr;
  const bool empty = table->stream_query == nothing;
  const auto function = table->stream_query;
  const double direct = empty ? timed(iterations, [] { nothing(nullptr); })
                              : timed(iterations, [function] { function(nullptr); });
  const double through = timed(iterations, [table]() mutable {
    asm volatile("" : "+r"(table));  // the table is looked at anew, as a caller's is
    table->stream_query(nullptr);
  });
  return Py_BuildValue("(dd)", direct, through);
}

PyMethodDef methods[] = {
    {"calls", calls, METH_VARARGS,
     "calls(kind, iterations): (direct, through) ns of one stream_query of a kind of device; of "
     "`empty`, of a function that does nothing"},
    {},
};
PyModuleDef definition{PyModuleDef_HEAD_INIT,
                       "_device_calls",
                       "A device's functions, called directly and through its table.",
                       -1,
                       methods,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__device_calls() {
  return PyModule_Create(&definition);
}
