"""NumPy arrays, arrays of its subclasses, and scalars."""

import numpy as np

SCRIPT = {
    "make": "array = source",
    "make matrix": "array = np.asmatrix(source)",
    "make recarray": "array = source.view(np.recarray)",
    "make scalar": "array = source[()]",
    "own": "array = array.copy(){slice}",
    "memory": "{array}",
    "memory scalar": "np.asarray(memoryview({array}))",
}

SPECIAL = ("swapped",)
ARGUMENTS = {"matrix": "", "recarray": "", "scalar": ""}

KIND = ARGUMENT[0]


def make(case, device):
    if KIND == "matrix":
        return case.build(np.asmatrix, np.matrix.copy)
    if KIND == "recarray":
        return case.build(lambda content: content.view(np.recarray), np.recarray.copy)
    if KIND == "scalar":
        return case.numpy().reshape(())[()]
    return case.numpy()


def address(array):
    # Each interface of a scalar describes a copy; its buffer is its own memory.
    held = np.asarray(memoryview(array)) if isinstance(array, np.generic) else array
    return held.ctypes.data
