// A bare C loop of calls with several arrays, and a chain of multiplications of a known cost.
#include <Python.h>

#include <chrono>
#include <cstdint>
#include <vector>

namespace {

double now_ns() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::nano>(since).count();
}

volatile std::uint64_t sink = 1;

// Each multiplication waits for the one before. A spin on the clock would disturb the branch
// predictor of what is measured.
[[gnu::noinline]] void chain(long links) {
  std::uint64_t value = sink;
  for (long i = 0; i < links; ++i) {
    value = value * 6364136223846793005ULL;
    asm volatile("" : "+r"(value));
  }
  sink = value | 1;
}

// time_calls(function, sets, calls): ns of a call, with the sets in rotation.
PyObject* time_calls(PyObject*, PyObject* arguments) {
  PyObject *function, *sets;
  long calls;
  if (!PyArg_ParseTuple(arguments, "OO!l", &function, &PyList_Type, &sets, &calls)) return nullptr;
  vectorcallfunc call = PyVectorcall_Function(function);
  const std::size_t rows = PyList_GET_SIZE(sets);
  std::vector<std::vector<PyObject*>> slots(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    PyObject* set = PyList_GET_ITEM(sets, i);
    slots[i].push_back(nullptr);
    for (Py_ssize_t j = 0; j < PyTuple_GET_SIZE(set); ++j)
      slots[i].push_back(PyTuple_GET_ITEM(set, j));
  }
  std::vector<PyObject**> first;
  for (std::vector<PyObject*>& row : slots) first.push_back(row.data() + 1);
  const std::size_t count = (slots[0].size() - 1) | PY_VECTORCALL_ARGUMENTS_OFFSET;
  PyObject** const* row = first.data();
  PyObject** const* const end = row + rows;
  double begin = 0;
  for (long i = -64; i < calls; ++i) {
    if (i == 0) begin = now_ns();
    PyObject* result = call(function, *row, count, nullptr);
    if (result == nullptr) return nullptr;
    Py_DECREF(result);
    if (++row == end) row = first.data();
  }
  return PyFloat_FromDouble((now_ns() - begin) / calls);
}

// time_chains(links, times): ns of a chain of so many links.
PyObject* time_chains(PyObject*, PyObject* arguments) {
  long links, times;
  if (!PyArg_ParseTuple(arguments, "ll", &links, &times)) return nullptr;
  double begin = 0;
  for (long i = -64; i < times; ++i) {
    if (i == 0) begin = now_ns();
    chain(links);
  }
  return PyFloat_FromDouble((now_ns() - begin) / times);
}

PyObject* wrapped;
long planted;

PyObject* call_chained(PyObject*, PyObject* const* arrays, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; ++i) chain(planted);
  return PyObject_Vectorcall(wrapped, arrays, count, nullptr);
}

PyMethodDef chained_method{
    "chained", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call_chained)),
    METH_FASTCALL, nullptr};

// chained(function, links): the function after a chain for each argument.
PyObject* chained(PyObject*, PyObject* arguments) {
  if (!PyArg_ParseTuple(arguments, "Ol", &wrapped, &planted)) return nullptr;
  Py_INCREF(wrapped);
  return PyCFunction_New(&chained_method, nullptr);
}

PyMethodDef methods[] = {{"time_calls", time_calls, METH_VARARGS, nullptr},
                         {"time_chains", time_chains, METH_VARARGS, nullptr},
                         {"chained", chained, METH_VARARGS, nullptr},
                         {}};
PyModuleDef definition{
    PyModuleDef_HEAD_INIT, "loop", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_loop() {
  return PyModule_Create(&definition);
}
