"""safetensors: `convert` writes an array to bytes and reads them again."""

from safetensors import numpy as tensors

DEFAULT = False


def saved_and_loaded(array):
    return tensors.load(tensors.save({"array": array}))["array"]


PROTOCOLS = {"convert": saved_and_loaded}


def extras(array):
    return {}
