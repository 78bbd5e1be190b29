"""What compiled functions take: NumPy arrays and whatever has a buffer; device arrays."""

import numba
import numpy as np
from numba import cuda, types
from numba.core.extending import overload
from numba.np.numpy_support import as_dtype


def as_array(given):
    """The argument as an array of compiled code's own; the result turns into a NumPy array."""


@overload(as_array)
def _as_array(given):
    if isinstance(given, types.Array):
        return lambda given: given
    if isinstance(given, types.Buffer) and given.is_contig:
        dtype = as_dtype(given.dtype)
        return lambda given: np.frombuffer(given, dtype)
    return None


@numba.njit
def take(given):
    return as_array(given)


PROTOCOLS = {
    "buffer": take,
    "cuda_array_interface": cuda.as_cuda_array,
    "convert": take,
}
