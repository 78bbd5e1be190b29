"""Numba imports: NumPy arrays and buffers as arguments of compiled functions, and device arrays."""

import ctypes

import numba
import numpy as np
from numba import cuda, types
from numba.core.extending import overload
from numba.np.numpy_support import as_dtype

from dlbench.adapter import call_library, written_function


def as_array(given):
    """The argument as an array of the compiled code; Numba returns it as a NumPy array."""


def as_array_of_type(given):
    if isinstance(given, types.Array):
        return lambda given: given
    dtype = as_dtype(given.dtype)
    return lambda given: np.frombuffer(given, dtype)


overload(as_array)(as_array_of_type)


@numba.njit
def import_array(given):
    return as_array(given)


def compiled(arrays):
    """A compiled function of so many arrays, which passes each address to C code."""
    library = call_library()
    argument, end = library.dlbench_call_argument, library.dlbench_call_end
    argument.restype = end.restype = None
    argument.argtypes, end.argtypes = [ctypes.c_size_t, ctypes.c_size_t], [ctypes.c_size_t]
    steps = [f"argument({i}, a{i}.ctypes.data)" for i in range(arrays)]
    body = "; ".join([*steps, f"end({arrays})"])
    return numba.njit(written_function(arrays, body, argument=argument, end=end))


PROTOCOLS = {
    "buffer": import_array,
    "cuda_array_interface": cuda.as_cuda_array,
    "convert": import_array,
    "call": compiled,
}


def extras(array):
    return {}
