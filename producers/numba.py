"""Numba's arrays: NumPy arrays that compiled code made, in memory of its own; device arrays."""

import contextlib

import numba
import numpy as np
from numba import cuda

from dlbench.adapter import require_buffer_dtype, require_own_layout

DEVICES = ("cpu", "cuda")
DEFAULT = False


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
    cuda.select_device(int(device.partition(":")[2]))
    return cuda.to_device(case.numpy())


def ready(array):
    if not isinstance(array, np.ndarray):
        cuda.synchronize()


def stream(device):
    # Its own stream is the default one; it keeps the handle to itself where that is null.
    return 0


@contextlib.contextmanager
def on_stream(device, handle):
    # Numba has no current stream: each call names one. So arrays are made on the default stream
    # and wait for what lies on the other.
    cuda.external_stream(handle).synchronize()
    yield


def address(array):
    if isinstance(array, np.ndarray):
        return array.ctypes.data
    return array.__cuda_array_interface__["data"][0]
