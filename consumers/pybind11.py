"""pybind11 imports: functions with an argument `py::buffer` or `py::array_t`."""

from dlbench import _pybind11_consumer
from dlbench.adapter import function_of, keywords, one_list, scalars

SCRIPT = {
    "call |array|buffer|noconvert": """
import pybind11
binding = built('''
#include <pybind11/numpy.h>
namespace py = pybind11;
using Array = [[py::array_t<float>|py::array|py::buffer|py::array_t<float, py::array::c_style>]];
PYBIND11_MODULE(binding, m) {
  m.def("call", []([[const Array& _]]) { body({[[_.[[data()|data()|request().ptr|data()]]]]}); }
        [[, py::arg()[[|||.noconvert()]]]]);
}
''', f"-I{pybind11.get_include()}")
function = binding.call
""",
}

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
