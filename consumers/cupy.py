"""CuPy imports."""

import cupy

PROTOCOLS = {
    "dlpack": cupy.from_dlpack,
    "cuda_array_interface": cupy.asarray,
    "convert": cupy.asarray,
}


def extras(array):
    return {}
