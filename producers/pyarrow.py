"""PyArrow arrays: one-dimensional, read-only, over NumPy's memory."""

import numpy as np
import pyarrow as pa

from dlbench.adapter import require_packable

SPECIAL = ("nulls",)


def make(case, device):
    require_packable(case, "Arrow")
    return pa.array(case.numpy(), from_pandas=case.special == "nulls")


def memory(array):
    # An imported buffer of plain bytes is read as it is.
    if not isinstance(array, pa.Array):
        return array
    content = np.frombuffer(array.buffers()[1], array.type.to_pandas_dtype())
    return content[array.offset : array.offset + len(array)]


def values(array):
    # NaN stands for null.
    return array.to_numpy(zero_copy_only=False) if isinstance(array, pa.Array) else array


def extras(array):
    return ("nulls",) if getattr(array, "null_count", 0) else ()
