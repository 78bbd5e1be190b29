"""NumPy imports."""

import functools

import numpy as np

from dlbench import Call, X
from dlbench.adapter import compiled_module, function_of

SCRIPT = {
    "dlpack to cpu": "np.from_dlpack(array, device='cpu')",
    "call gufunc|ufunc": """
module = built('''
#include <Python.h>
#include <numpy/arrayobject.h>
#include <numpy/ufuncobject.h>
#include <string>
static void run(char **places, npy_intp const *, npy_intp const *, void *) {
  called(reinterpret_cast<const void *const *>(places), [[n]]);
}
static PyUFuncGenericFunction loops[] = {run};
static void *data[] = {nullptr};
static char types[] = {[[NPY_FLOAT32]]};
static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "binding", nullptr, -1};
PyMODINIT_FUNC PyInit_binding() {
  import_array();
  import_umath();
  PyObject *module = PyModule_Create(&definition);
  static std::string signature;
  for (int i = 1; i < [[n]]; ++i) signature += i > 1 ? ",(n)" : "(n)";
  signature += "->(n)";
  PyModule_AddObject(module, "call", PyUFunc_FromFuncAndDataAndSignature(
      loops, data, types, 1, [[n]] - 1, 1, PyUFunc_None, "call", nullptr, 0,
      [[signature.c_str()|nullptr]]));
  return module;
}
''', f"-I{np.get_include()}")
function = module.call
""",
}

BUILDS = {"gufunc": "call/numpy_ufunc.cc", "ufunc": "call/numpy_ufunc.cc"}


@functools.cache
def module():
    return compiled_module(__file__, BUILDS["ufunc"])


# np.asarray uses the first that exists: buffer, __array_struct__, __array_interface__, __array__.
PROTOCOLS = {
    "dlpack": np.from_dlpack,
    "convert": np.asarray,
    "buffer": np.asarray,
    "array_interface": np.asarray,
    "array_struct": np.asarray,
    "array": np.asarray,
    "array_ufunc": Call(np.multiply, X, X),
    "array_function": Call(np.concatenate, (X, X)),
}

CALLS = {
    "array": np.array,
    "asanyarray": np.asanyarray,
    "asarray-no-copy": Call(np.asarray, X, copy=False),
    "ascontiguousarray": np.ascontiguousarray,
    "gufunc": {"call": function_of(module, "gufunc")},
    "ufunc": {"call": function_of(module, "ufunc")},
}


def calls(source, target):
    return {} if source == target else {"dlpack": Call(np.from_dlpack, X, device="cpu")}


def extras(array):
    return {}
