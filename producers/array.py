"""array.array. No consumer, because the constructor needs the type of an element."""

import array

import numpy as np

from dlbench.adapter import require, require_buffer_dtype, require_offset, require_writable

SCRIPT = {
    "make": (
        "from array import array as new_array\n"
        "array = new_array(np.dtype('{dtype}').char, source.tobytes())"
    ),
}

DISTRIBUTION = None
DEFAULT = False


def make(case, device):
    require(len(case.shape) == 1, "array.array has one dimension")
    require_writable(case, "array.array")
    require_offset(case, "array.array")
    require_buffer_dtype(case, "array.array")
    code = np.dtype(case.dtype).char
    require(code in array.typecodes, f"array.array has no {case.dtype}")
    return array.array(code, case.numpy().tobytes())


def address(array):
    return array.buffer_info()[0]
