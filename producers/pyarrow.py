"""PyArrow arrays: one-dimensional, read-only, over NumPy's memory."""

import numpy as np
import pyarrow as pa

SCRIPT = {
    "make": "array = pa.array(source)",
    "make nulls": "array = pa.array(source, from_pandas=True)",
    "own": "array = array.copy_to(pa.default_cpu_memory_manager()){slice}",
    "memory": "np.asarray({array})",
}

SPECIAL = ("nulls",)


def make(case, device):
    def array(content):
        return pa.array(content, from_pandas=case.special == "nulls")

    return case.build(array, lambda array: array.copy_to(pa.default_cpu_memory_manager()))


def memory(array):
    # A buffer of plain bytes is returned unchanged.
    if not isinstance(array, pa.Array):
        return array
    content = np.frombuffer(array.buffers()[1], array.type.to_pandas_dtype())
    return content[array.offset : array.offset + len(array)]


def values(array):
    if not isinstance(array, pa.Array):
        return array
    if array.null_count and not pa.types.is_floating(array.type):
        # Keep the dtype: NaN for a missing integer would convert all elements to floats.
        array = array.fill_null(pa.array([0]).cast(array.type)[0])
    # In floats, NaN means null.
    return array.to_numpy(zero_copy_only=False)


def extras(array):
    if not getattr(array, "null_count", 0):
        return {}
    return {"nulls": array.is_null().to_numpy(zero_copy_only=False)}
