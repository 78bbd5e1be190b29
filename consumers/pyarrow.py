"""PyArrow imports: arrays with a dtype, and plain bytes as a buffer without one."""

import pyarrow as pa

PROTOCOLS = {"convert": pa.array, "buffer": pa.py_buffer}
