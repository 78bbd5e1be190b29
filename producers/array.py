"""array.array. No consumer, because the constructor needs the type of an element."""

import array

import numpy as np

from dlbench.adapter import require

SCRIPT = {
    "make": (
        "from array import array as new_array\n"
        "array = new_array(np.dtype('{dtype}').char, source.tobytes())"
    ),
}

DISTRIBUTION = None
DEFAULT = False


def make(case, device):
    # Without a shape, its elements in line are no other than those of two dimensions.
    require(len(case.shape) == 1, "array.array has one dimension")
    return array.array(np.dtype(case.dtype).char, case.numpy().tobytes())


def address(array):
    return array.buffer_info()[0]
