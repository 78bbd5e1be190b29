"""NumPy arrays, arrays of its subclasses, and scalars."""

import numpy as np

from dlbench.adapter import require

SCRIPT = {
    "make": "array = source",
    "make matrix": "array = np.asmatrix(source)",
    "make recarray": "array = source.view(np.recarray)",
    "make scalar": "array = source[()]",
    "own": "array = array.copy(){slice}",
    "memory": "{array}",
}

SPECIAL = ("swapped",)
ARGUMENTS = {"matrix": "", "recarray": "", "scalar": ""}

KIND = ARGUMENT[0]


def make(case, device):
    array = case.numpy()
    if KIND == "matrix":
        require(array.ndim == 2, "a matrix has two dimensions: f32-2d")
        return np.asmatrix(array)
    if KIND == "recarray":
        return array.view(np.recarray)
    if KIND == "scalar":
        require(case.shape == (), "a scalar has no dimension: f32-0d")
        return array[()]
    return array


def address(array):
    # Each interface of a scalar describes a copy; its buffer is its own memory.
    held = np.asarray(memoryview(array)) if isinstance(array, np.generic) else array
    return held.ctypes.data
