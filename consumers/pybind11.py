"""Functions bound with pybind11, with a `py::buffer` or a `py::array_t` as argument."""

from dlbench import _pybind11_consumer

# NumPy arrays pass through py::array_t as they are; NumPy makes an array of anything else.
PROTOCOLS = {
    "buffer": _pybind11_consumer.from_buffer,
    "array_interface": _pybind11_consumer.from_array,
    "array_struct": _pybind11_consumer.from_array,
    "array": _pybind11_consumer.from_array,
    "convert": _pybind11_consumer.from_array,
}


def extras(array):
    return {}
