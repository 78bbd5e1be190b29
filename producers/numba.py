"""Numba's arrays: NumPy arrays that compiled code made, in memory of its own; device arrays."""

import contextlib

import numba
import numpy as np
from numba import cuda

from dlbench.adapter import require_buffer_dtype, require_own_layout, split_device

DEVICES = ("cpu", "cuda")
DEFAULT = False
STREAMS = [0]  # where arrays are made: the innermost `on_stream`, else the default one


def devices():
    gpus = cuda.gpus if cuda.is_available() else ()
    return ["cpu", *(f"cuda:{number}" for number, _ in enumerate(gpus))]


@numba.njit
def compiled_copy(source):
    made = np.empty_like(source)
    made[:] = source
    return made


def make(case, device):
    require_own_layout(case, "Numba")
    require_buffer_dtype(case, "Numba")
    if device == "cpu":
        return compiled_copy(case.numpy())
    cuda.select_device(split_device(device)[1])
    array = cuda.to_device(case.numpy(), stream=STREAMS[-1])
    if len(STREAMS) > 1:
        STREAMS[-1].synchronize()  # the source goes now
    return array


def stream(device):
    # Its own stream is the default one; it keeps the handle to itself where that is null.
    return 0


@contextlib.contextmanager
def on_stream(device, handle):
    # Numba has no current stream: an array keeps the one that it was made on, and names it.
    STREAMS.append(cuda.external_stream(handle))
    try:
        yield
    finally:
        STREAMS.pop()


def address(array):
    if isinstance(array, np.ndarray):
        return array.ctypes.data
    return array.__cuda_array_interface__["data"][0]
