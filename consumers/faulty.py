"""The fault-injecting adapter: the native consumer with one planted fault."""

import numpy as np

from dlbench import _faulty_consumer, _native_consumer, _native_producer

DISTRIBUTION = None
HIDDEN = True
ARGUMENTS = {
    "honest": "",
    "slow-import": "TIME",
    "work": "COUNT",
    "silent-copy": "",
    "late-read": "TIME",
    "lazy-copy": "",
    "copy-back": "",
    "values-changed": "",
    "read-only-ignored": "",
    "keeps-capsule-name": "",
    "early-free": "",
    "double-free": "",
    "never-free": "",
    # of functions of arrays
    "copies-argument": "",
    "swaps-arguments": "",
    "skips-body": "",
}
READY = ("late-read",)

OF_CALLS = ("copies-argument", "swaps-arguments", "skips-body")
KIND = ARGUMENT[0]
fault = _faulty_consumer.Fault(*(("honest", None) if KIND in OF_CALLS else ARGUMENT))
delays = fault.delays


def called(*arrays):
    """The native function of arrays."""
    passed = list(arrays)
    if KIND == "copies-argument":
        passed[-1] = _native_producer.Array(np.array(memoryview(arrays[-1])))
    elif KIND == "swaps-arguments":
        passed[:2] = reversed(passed[:2])
    if KIND != "skips-body":
        _native_consumer.call_dlpack_c(*passed)


PROTOCOLS = {
    "dlpack": fault.from_dlpack,
    "dlpack_c": fault.from_dlpack_c,
    "call": lambda arrays: called,
}


def ready(array):
    array.ready()


def extras(array):
    return {}
