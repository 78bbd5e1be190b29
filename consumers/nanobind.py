"""nanobind imports: functions with an argument `nb::ndarray`."""

from dlbench import _nanobind_consumer
from dlbench.adapter import function_of, keywords, one_list, scalars

SCRIPT = {
    "address": "{array}.address",
    "values": "{array}.view()",
    "call |noconvert|untyped": """
import nanobind
binding = built('''
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
namespace nb = nanobind;
using Typed = nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Array = [[Typed|Typed|nb::ndarray<>]];
NB_MODULE(binding, m) {
  m.def("call", []([[Array _]]) { body({[[_.data()]]}); }[[, nb::arg()[[|.noconvert()|]]]]);
}
''', f"-I{nanobind.include_dir()}", f"-I{folder_of('nanobind')}/ext/robin_map/include",
  f"{nanobind.source_dir()}/nb_combined.cpp")
function = binding.call
""",
}

EXTENSION = "_nanobind_consumer"
# nb::ndarray tries DLPack first.
PROTOCOLS = {
    "dlpack": _nanobind_consumer.from_any,
    "buffer": _nanobind_consumer.from_any,
    "convert": _nanobind_consumer.from_any,
    # nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu>
    "call": function_of(_nanobind_consumer, "call_typed"),
}
CALLS = {
    "noconvert": {"call": function_of(_nanobind_consumer, "call_noconvert")},
    "untyped": {"call": function_of(_nanobind_consumer, "call_untyped")},
    "keywords": {"call": function_of(_nanobind_consumer, "call_named", keywords)},
    "list": {"call": lambda arrays: one_list(_nanobind_consumer.call_list, arrays)},
    "scalars": {"call": function_of(_nanobind_consumer, "call_scalars", scalars)},
    "output": {"call": function_of(_nanobind_consumer, "call_output")},
    "nogil": {"call": function_of(_nanobind_consumer, "call_nogil")},
}


def _is_taken(array):
    return isinstance(array, _nanobind_consumer.Taken)


def values(array):
    return array.view() if _is_taken(array) else array


def address(array):
    return array.address if _is_taken(array) else None


def extras(array):
    return {}
