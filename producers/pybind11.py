"""A pybind11 class with a buffer, over NumPy's memory."""

from dlbench import _pybind11_producer

SCRIPT = {"make": "array = _pybind11_producer.Array(source)"}

DISTRIBUTION = None
DEFAULT = False
VERSION = _pybind11_producer.VERSION


def make(case, device):
    return _pybind11_producer.Array(case.numpy())
