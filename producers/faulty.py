"""The fault-injecting adapter: the native producer with one planted fault."""

import contextlib

from dlbench import _faulty_producer
from dlbench.adapter import require

DISTRIBUTION = None
HIDDEN = True
ARGUMENTS = {
    "honest": "",
    "slow-query": "TIME",
    "slow-export": "TIME",
    "host-wait": "TIME",
    "slow-release": "TIME",
    "silent-copy": "",
    "hiding-is-copied": "",
    "lying-is-copied": "",
    "copy-back": "",
    "lazy-copy": "",
    "double-map": "",
    "values-changed": "",
    "wrong-byte-offset": "",
    "wrong-strides": "",
    "wrong-shape": "",
    "wrong-dtype": "",
    "wrong-device": "",
    "wrong-name": "",
    "stale-version": "VERSION",
    "read-only-missing": "",
    "early-free": "",
    "double-free": "",
    "never-free": "",
    "null-deleter": "",
    "no-wait": "",
    "wrong-stream": "",
    "host-sync": "",
    "wrong-copy": "",
}
DEVICES = ("cpu", "cuda", "rocm", "sim")
SPECIAL = ("pinned", "managed")
#: Faults that are visible only on a device, and faults that are also visible there.
ON_DEVICES = ("no-wait", "wrong-stream", "host-sync", "wrong-copy")
ALSO_ON_DEVICES = ("honest", "wrong-device")

fault = _faulty_producer.Fault(*ARGUMENT)
delays = fault.delays


def make(case, device):
    require(
        case.readonly or ARGUMENT[0] != "read-only-missing",
        "the fault needs a read-only array: --cases f32-readonly",
    )
    name = ARGUMENT[0]
    if device == "cpu":
        require(name not in ON_DEVICES, "the fault needs a device: --devices sim:0")
        require(not case.special, f"{case.special} memory needs a device: --devices cuda:0")
        return _faulty_producer.Array(case.numpy(), fault)
    require(name in (*ON_DEVICES, *ALSO_ON_DEVICES), "the fault needs host memory: --devices cpu")
    memory = case.special or "device"
    return _faulty_producer.DeviceArray(case.numpy(0), device, fault, memory)


stream = _faulty_producer.stream


@contextlib.contextmanager
def on_stream(device, handle):
    former = stream(device)
    _faulty_producer.set_stream(device, handle)
    try:
        yield
    finally:
        _faulty_producer.set_stream(device, former)


def address(array):
    return array.address


def values(array):
    return memoryview(array) if isinstance(array, _faulty_producer.Array) else array
