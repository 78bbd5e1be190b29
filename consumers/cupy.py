"""CuPy imports."""

import cupy

PROTOCOLS = {
    "dlpack": cupy.from_dlpack,
    "cuda_array_interface": cupy.asarray,
    "convert": cupy.asarray,
}
CALLS = {
    "array": cupy.array,
    "asanyarray": cupy.asanyarray,
    "ascontiguousarray": cupy.ascontiguousarray,
}


def extras(array):
    return {}
