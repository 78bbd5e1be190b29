"""dpnp imports. From CPU memory `from_dlpack` returns a NumPy array."""

import os

from dlbench.adapter import opencl_cpu

os.environ.setdefault("OCL_ICD_FILENAMES", opencl_cpu())

import dpnp

PROTOCOLS = {"dlpack": dpnp.from_dlpack, "convert": dpnp.asarray}
CALLS = {
    "array": dpnp.array,
    "asanyarray": dpnp.asanyarray,
    "ascontiguousarray": dpnp.ascontiguousarray,
}


def extras(array):
    return {}
