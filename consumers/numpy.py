"""NumPy imports."""

import functools

import numpy as np

from dlbench import Call, X
from dlbench.adapter import compiled_module, function_of

SCRIPT = {"dlpack to cpu": "np.from_dlpack(array, device='cpu')"}

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
