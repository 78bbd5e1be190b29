"""ONNX Runtime imports."""

import onnxruntime
from onnxruntime import OrtValue

from dlbench.adapter import Capsule

PROTOCOLS = {"dlpack": OrtValue.from_dlpack, "convert": OrtValue.ortvalue_from_numpy}
# Of the value that OrtValue wraps; before 1.25 nothing else imports DLPack.
CALLS = {"capsule": {"dlpack": Capsule(onnxruntime.capi._pybind_state.OrtValue.from_dlpack)}}


def extras(array):
    return {}
