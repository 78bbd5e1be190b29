"""PyArrow imports: arrays by type, and plain bytes as a buffer, which has no dtype."""

import pyarrow as pa

PROTOCOLS = {"convert": pa.array, "buffer": pa.py_buffer}
