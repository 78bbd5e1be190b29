"""PyArrow arrays, one-dimensional and read-only, or tensors over NumPy's memory."""

import numpy as np
import pyarrow as pa

SCRIPT = {
    "make": "array = pa.array(source)",
    "make tensor": "array = pa.Tensor.from_numpy(source)",
    "make usual": "array = pa.array(source).copy_to(pa.default_cpu_memory_manager())",
    "make nulls": (
        "array = pa.array(source, mask=~(source < 127)).copy_to(pa.default_cpu_memory_manager())"
    ),
    "make chunked": "array = pa.chunked_array([source[:1], source[1:]])",
    "own": "array = array.copy_to(pa.default_cpu_memory_manager()){slice}",
    "memory": (
        "np.frombuffer({array}.buffers()[1], {array}.type.to_pandas_dtype())"
        "[{array}.offset:][:len({array})] if isinstance({array}, pa.Array) else np.asarray({array})"
    ),
}

SPECIAL = ("nulls",)
ARGUMENTS = {"tensor": "", "chunked": ""}


def make(case, device):
    if ARGUMENT[0] == "tensor":
        return pa.Tensor.from_numpy(case.numpy())

    def array(content):
        return pa.array(content, mask=case.nulls(content))

    def copy(array):
        return array.copy_to(pa.default_cpu_memory_manager())

    made = case.build(array, copy, usual=True)
    # A slice keeps the memory.
    return pa.chunked_array([made[:1], made[1:]]) if ARGUMENT[0] == "chunked" else made


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
