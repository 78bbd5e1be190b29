"""PyArrow arrays: one-dimensional, read-only. It imports nothing, so there is no consumer."""

import pyarrow as pa

from dlbench.adapter import require


def make(case, device):
    require(case.strides is None, "an Arrow array is contiguous")
    require(case.dtype != "bool", "Arrow packs booleans into bits")
    require(not case.dtype.startswith("complex"), "Arrow has no complex numbers")
    return pa.array(case.numpy())


def address(array):
    return array.buffers()[1].address + array.offset * array.type.byte_width
