"""CuPy imports."""

import tempfile

import cupy

from dlbench import Call, X
from dlbench.call_kernel import ptx


def raw_kernel(arrays):
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(ptx(arrays))
        file.flush()
        kernel = cupy.RawModule(path=file.name).get_function("dlbench_call")
    return Call(kernel, (1,), (1,), [X] * arrays)


PROTOCOLS = {
    "dlpack": cupy.from_dlpack,
    "cuda_array_interface": cupy.asarray,
    "convert": cupy.asarray,
}
LAUNCHES = {"RawKernel": "cuda"}
CALLS = {
    "RawKernel": {"call": raw_kernel},
    "array": cupy.array,
    "asanyarray": cupy.asanyarray,
    "ascontiguousarray": cupy.ascontiguousarray,
}


def extras(array):
    return {}
