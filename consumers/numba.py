"""Numba imports: NumPy arrays and buffers as arguments of compiled functions, and device arrays."""

import numba
import numpy as np
from numba import cuda, types
from numba.core.extending import overload
from numba.np.numpy_support import as_dtype


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


PROTOCOLS = {
    "buffer": import_array,
    "cuda_array_interface": cuda.as_cuda_array,
    "convert": import_array,
}


def extras(array):
    return {}
