"""The native producer, dlbench's own: arrays in its own memory, with the requested layout."""

import contextlib

from dlbench import _native_producer
from dlbench.adapter import require

SCRIPT = {"make": "array = _native_producer.Array(source)"}

DISTRIBUTION = None
DEVICES = ("cpu", "cuda", "rocm", "sim")
SPECIAL = ("pinned", "managed")
ARGUMENTS = {"interface": "COUNT"}

INTERFACE = 3 if ARGUMENT[1] is None else ARGUMENT[1]


def make(case, device):
    if device == "cpu":
        require(not case.special, f"{case.special} memory needs a device: --devices cuda:0")
        return _native_producer.Array(case.numpy())
    memory = case.special or "device"
    return _native_producer.DeviceArray(case.numpy(0), device, memory=memory, interface=INTERFACE)


stream = _native_producer.stream


@contextlib.contextmanager
def on_stream(device, handle):
    former = _native_producer.stream(device)
    _native_producer.set_stream(device, handle)
    try:
        yield
    finally:
        _native_producer.set_stream(device, former)


def address(array):
    return array.address
