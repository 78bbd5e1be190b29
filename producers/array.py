"""array.array. Its constructor wants to be told the type of an element, so there is no consumer."""

import array

from dlbench.adapter import require, require_own_layout

DISTRIBUTION = None
DEFAULT = False
CODES = {"float32": "f", "float64": "d", "int8": "b", "int16": "h", "int32": "i", "int64": "q"}
CODES |= {"uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q"}


def make(case, device):
    require_own_layout(case, "array.array")
    require(len(case.shape) == 1, "array.array has one dimension")
    require(case.dtype in CODES, f"array.array has no type code for {case.dtype}")
    return array.array(CODES[case.dtype], case.numpy().tobytes())


def address(array):
    return array.buffer_info()[0]
