"""ONNX Runtime imports."""

from onnxruntime import OrtValue

PROTOCOLS = {"dlpack": OrtValue.from_dlpack, "convert": OrtValue.ortvalue_from_numpy}


def extras(array):
    return {}
