"""ctypes arrays over NumPy's memory. The consumer only calls: the length is part of a ctypes type,
so no single call imports all arrays.
"""

import ctypes

import numpy as np

SCRIPT = {
    "make": "array = np.ctypeslib.as_ctypes(source)",
    "make f4,i4,f8": "",  # as_ctypes knows no fields
    "own": "array = type(array).from_buffer_copy(source)",
}

DISTRIBUTION = None
DEFAULT = False

address = ctypes.addressof


def make(case, device):
    kind = np.ctypeslib.as_ctypes_type(np.dtype((case.dtype, case.shape)))
    array = kind.from_buffer(case.numpy())
    return kind.from_buffer_copy(array) if case.own else array
