"""dlbench's own saboteur: the native producer with one planted fault."""

from dlbench import _saboteur_producer
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
}

fault = _saboteur_producer.Fault(*ARGUMENT)
delays = fault.delays


def make(case, device):
    require(
        case.readonly or ARGUMENT[0] != "read-only-missing", "only a read-only case can show it"
    )
    return _saboteur_producer.Array(case.numpy(), fault)


def address(array):
    return array.address


def values(array):
    return memoryview(array)
