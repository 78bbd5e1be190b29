"""pybind11 imports: functions with an argument `py::buffer` or `py::array_t`."""

from dlbench import _pybind11_consumer
from dlbench.adapter import function_of, keywords, one_list, scalars

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
    "keywords": {"call": function_of(_pybind11_consumer, "call_named", keywords)},
    "list": {"call": lambda arrays: one_list(_pybind11_consumer.call_list, arrays)},
    "scalars": {"call": function_of(_pybind11_consumer, "call_scalars", scalars)},
    "output": {"call": function_of(_pybind11_consumer, "call_output")},
    "nogil": {"call": function_of(_pybind11_consumer, "call_nogil")},
}


def extras(array):
    return {}
