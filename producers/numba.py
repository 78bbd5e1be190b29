"""Numba's arrays: NumPy arrays in memory of compiled code, and device arrays."""

import contextlib

import numba
import numpy as np
from numba import cuda

from dlbench.adapter import split_device

SCRIPT = {
    "make": "array = numba.njit(lambda a: a.copy())({unsliced}){slice}",
    "make readonly": (
        "array = numba.njit(lambda a: a.copy())(source)\narray.flags.writeable = False"
    ),
    "make broadcast": (
        "array = np.broadcast_to(numba.njit(lambda a: a.copy())(source[:1]), {shape})"
    ),
    "memory": "{array}",
}

DEVICES = ("cpu", "cuda")
DEFAULT = False
STREAMS = [0]  # streams for new arrays; the last one is used


def devices():
    gpus = cuda.gpus if cuda.is_available() else ()
    return ["cpu", *(f"cuda:{number}" for number, _ in enumerate(gpus))]


@numba.njit
def compiled_copy(source):
    made = np.empty_like(source)
    made[:] = source
    return made


def make(case, device):
    if device == "cpu":
        return case.sliced(compiled_copy(case.unsliced(case.numpy())), np.broadcast_to)
    cuda.select_device(split_device(device)[1])
    array = cuda.to_device(case.numpy(), stream=STREAMS[-1])
    if len(STREAMS) > 1:
        STREAMS[-1].synchronize()  # the source is freed on return
    return array


def stream(device):
    # Numba has no current stream; an array exports the stream that it was made on, and no null
    # handle.
    return int(STREAMS[-1])


@contextlib.contextmanager
def on_stream(device, handle):
    STREAMS.append(cuda.external_stream(handle))
    try:
        yield
    finally:
        STREAMS.pop()


def address(array):
    if isinstance(array, np.ndarray):
        return array.ctypes.data
    return array.__cuda_array_interface__["data"][0]
