"""pybind11 imports: functions with an argument `py::buffer` or `py::array_t`."""

from dlbench import _pybind11_consumer
from dlbench.adapter import function_of

# py::array_t accepts NumPy arrays unchanged; NumPy converts other objects.
PROTOCOLS = {
    "buffer": _pybind11_consumer.from_buffer,
    "array_interface": _pybind11_consumer.from_array,
    "array_struct": _pybind11_consumer.from_array,
    "array": _pybind11_consumer.from_array,
    "convert": _pybind11_consumer.from_array,
    "call": function_of(_pybind11_consumer, "call_array_t"),
}
CALLS = {
    "noconvert": {"call": function_of(_pybind11_consumer, "call_noconvert")},
    "array": {"call": function_of(_pybind11_consumer, "call_array")},
    "buffer": {"call": function_of(_pybind11_consumer, "call_buffer")},
}


def extras(array):
    return {}
