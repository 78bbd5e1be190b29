"""The fault-injecting adapter: the native consumer with one planted fault."""

from dlbench import _faulty_consumer

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
}
READY = ("late-read",)

fault = _faulty_consumer.Fault(*ARGUMENT)
delays = fault.delays

PROTOCOLS = {"dlpack": fault.from_dlpack, "dlpack_c": fault.from_dlpack_c}


def ready(array):
    array.ready()


def extras(array):
    return {}
