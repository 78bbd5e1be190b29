"""PyArrow arrays, one-dimensional and read-only, or tensors over NumPy's memory."""

import numpy as np
import pyarrow as pa

SCRIPT = {
    "make": "array = pa.array(source)",
    "make tensor": "array = pa.Tensor.from_numpy(source)",
    "make usual": "array = pa.concat_arrays([pa.array(source)])",
    "make nulls": "array = pa.concat_arrays([pa.array(source, mask=~(source < 127))])",
    "make chunked": "array = pa.chunked_array([source[:1], source[1:]])",
    "own": "array = pa.concat_arrays([array]){slice}",
    "memory": (
        "np.frombuffer({array}.buffers()[1], {array}[:0].to_numpy(zero_copy_only=False).dtype)"
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
        return pa.concat_arrays([array])  # before PyArrow 18 there is no copy_to()

    made = case.build(array, copy, usual=True)
    # A slice keeps the memory.
    return pa.chunked_array([made[:1], made[1:]]) if ARGUMENT[0] == "chunked" else made


def memory(array):
    # A buffer of plain bytes is returned unchanged.
    if not isinstance(array, pa.Array):
        return array
    # to_pandas_dtype() needs pandas in old versions.
    dtype = array[:0].to_numpy(zero_copy_only=False).dtype
    content = np.frombuffer(array.buffers()[1], dtype)
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
