"""dlbench's own consumer, the known half: one call for each protocol."""

from dlbench import _native_consumer

DISTRIBUTION = None

PROTOCOLS = {
    "dlpack": _native_consumer.from_dlpack,
    "dlpack_c": _native_consumer.from_dlpack_c,
    "buffer": _native_consumer.from_buffer,
    "array_interface": _native_consumer.from_array_interface,
    "array_struct": _native_consumer.from_array_struct,
}
