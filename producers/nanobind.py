"""What functions that are bound with nanobind return, over memory that NumPy laid out."""

from dlbench import _nanobind_producer

DISTRIBUTION = "nanobind"
EXTENSION = "_nanobind_producer"
DEFAULT = False
VERSION = _nanobind_producer.VERSION


def make(case, device):
    lend = _nanobind_producer.lend_readonly if case.readonly else _nanobind_producer.lend
    return lend(case.numpy())
