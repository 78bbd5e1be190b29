"""PyArrow imports: arrays with a dtype, and plain bytes as a buffer without one.

Before version 26 it has no import by DLPack.
"""

import pyarrow as pa

PROTOCOLS = {"dlpack": pa.Array.from_dlpack, "convert": pa.array, "buffer": pa.py_buffer}
CALLS = {
    "Array.from_pandas": pa.Array.from_pandas,
    "Tensor.from_dlpack": {"dlpack": pa.Tensor.from_dlpack},
    "Tensor.from_numpy": pa.Tensor.from_numpy,
}
