"""ctypes arrays over NumPy's memory. The consumer only calls: the length is part of a ctypes type,
so no single call imports all arrays.
"""

import ctypes

import numpy as np

from dlbench.adapter import require

SCRIPT = {
    "make": "array = np.ctypeslib.as_ctypes(source)",
    "make f4,i4,f8": "",  # as_ctypes knows no fields
    "own": "array = type(array).from_buffer_copy(source)",
}

DISTRIBUTION = None
DEFAULT = False

address = ctypes.addressof


def make(case, device):
    require(case.strides is None, "a ctypes array is contiguous")
    require(not case.readonly, "a ctypes array may be written to")
    absent = case.dtype.startswith(("complex", "float16"))
    require(not absent, f"ctypes has no {case.dtype}")
    kind = np.ctypeslib.as_ctypes_type(np.dtype((case.dtype, case.shape)))
    array = kind.from_buffer(case.numpy())
    return kind.from_buffer_copy(array) if case.own else array
