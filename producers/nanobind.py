"""Results of nanobind functions, over NumPy's memory."""

from dlbench import _nanobind_producer

SCRIPT = {
    "make": "array = _nanobind_producer.export_array(source)",
    "make readonly": "array = _nanobind_producer.export_readonly(source)",
    "memory": "np.asarray({array})",
}

DISTRIBUTION = "nanobind"
EXTENSION = "_nanobind_producer"
DEFAULT = False
VERSION = _nanobind_producer.VERSION


def make(case, device):
    module = _nanobind_producer
    export_array = module.export_readonly if case.readonly else module.export_array
    return export_array(case.numpy())
