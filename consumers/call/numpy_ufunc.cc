// NumPy's own functions of arrays: a gufunc (n),(n)->(n) and a ufunc, of N arrays with `out` last.
//: -I{numpy}/_core/include -I{numpy}/core/include
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>
#include <numpy/ufuncobject.h>

#include <string>

#include "call/body.h"
#include "call/numbers.h"

namespace {

// The inner loop of both gets the first element of each array. NumPy may pass the elements of a
// ufunc in several parts.
template <std::size_t arrays>
void run(char** addresses, npy_intp const*, npy_intp const*, void*) {
  dlbench_call(arrays, reinterpret_cast<void* const*>(addresses));
}

template <std::size_t arrays>
void add_functions(PyObject* module) {
  if constexpr (arrays > 0) {
    static PyUFuncGenericFunction loops[] = {run<arrays>};
    static void* data[] = {nullptr};
    static char types[arrays];
    for (char& type : types) type = NPY_FLOAT32;
    static std::string signature;
    for (std::size_t i = 1; i < arrays; ++i) signature += i > 1 ? ",(n)" : "(n)";
    signature += "->(n)";
    for (const char* kind : {"gufunc", "ufunc"}) {
      const std::string name = kind + ("_" + std::to_string(arrays));
      const bool is_general = name[0] == 'g';
      PyObject* function = PyUFunc_FromFuncAndDataAndSignature(
          loops, data, types, 1, arrays - 1, 1, PyUFunc_None, kind, nullptr, 0,
          is_general ? signature.c_str() : nullptr);
      PyModule_AddObject(module, name.c_str(), function);
    }
  }
}

PyModuleDef definition{
    PyModuleDef_HEAD_INIT, "numpy_ufunc", nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_numpy_ufunc() {
  import_array();
  import_umath();
  PyObject* module = PyModule_Create(&definition);
#define DLBENCH_ADD(n) add_functions<n>(module);
  DLBENCH_CALL_NUMBERS(DLBENCH_ADD)
  return module;
}
