"""The native consumer, dlbench's own: one call for each protocol."""

import contextlib

from dlbench import _native_consumer

DISTRIBUTION = None

SCRIPT = {"write": "np.asarray({array})[...] = 0"}

PROTOCOLS = {
    "dlpack": _native_consumer.from_dlpack,
    "dlpack_c": _native_consumer.from_dlpack_c,
    "buffer": _native_consumer.from_buffer,
    "array_interface": _native_consumer.from_array_interface,
    "array_struct": _native_consumer.from_array_struct,
    "cuda_array_interface": _native_consumer.Importer("cpu").from_cuda_array_interface,
    "call": lambda arrays: _native_consumer.call_dlpack_c,
}
CALLS = {"capsule": {"call": lambda arrays: _native_consumer.call_dlpack}}


def calls(source, target):
    importer = _native_consumer.Importer(target)
    return {
        "dlpack": importer.from_dlpack,
        "dlpack_c": importer.from_dlpack_c,
        "cuda_array_interface": importer.from_cuda_array_interface,
    }


stream = _native_consumer.stream


@contextlib.contextmanager
def on_stream(device, handle):
    former = _native_consumer.stream(device)
    _native_consumer.set_stream(device, handle)
    try:
        yield
    finally:
        _native_consumer.set_stream(device, former)


def extras(array):
    return {}
