"""ctypes arrays over memory that NumPy laid out. A ctypes type has its length in it, so no one call
imports all arrays, and there is no consumer.
"""

import ctypes

import numpy as np

from dlbench import Unsupported
from dlbench.adapter import require, require_buffer_dtype

DISTRIBUTION = None
DEFAULT = False

address = ctypes.addressof


def make(case, device):
    require(case.strides is None, "a ctypes array is contiguous")
    require(not case.readonly, "ctypes has no read-only arrays")
    require_buffer_dtype(case, "ctypes")
    try:
        kind = np.ctypeslib.as_ctypes_type(case.dtype)
    except NotImplementedError:
        raise Unsupported(f"ctypes has no {case.dtype}") from None
    for extent in reversed(case.shape):
        kind = kind * extent
    return kind.from_buffer(case.numpy())
