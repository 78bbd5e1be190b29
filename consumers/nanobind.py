"""nanobind imports: functions with an argument `nb::ndarray`."""

from dlbench import _nanobind_consumer

SCRIPT = {"address": "{array}.address", "values": "{array}.view()"}

EXTENSION = "_nanobind_consumer"
# nb::ndarray tries DLPack first.
PROTOCOLS = {
    "dlpack": _nanobind_consumer.from_any,
    "buffer": _nanobind_consumer.from_any,
    "convert": _nanobind_consumer.from_any,
}


def _is_taken(array):
    return isinstance(array, _nanobind_consumer.Taken)


def values(array):
    return array.view() if _is_taken(array) else array


def address(array):
    return array.address if _is_taken(array) else None


def extras(array):
    return {}
