"""memoryviews of NumPy's memory, or of a bytearray, cast to a dtype and a shape."""

import numpy as np

SCRIPT = {
    "make": "array = memoryview(source)",
    "make cast": (
        "array = memoryview(bytearray(memoryview(source))).cast(source.dtype.char, source.shape)"
    ),
}

DISTRIBUTION = None
DEFAULT = False
ARGUMENTS = {"cast": ""}


def make(case, device):
    if ARGUMENT[0] == "cast":
        # bytearray(array) makes that many bytes of an integer in no dimension.
        content = bytearray(memoryview(case.numpy()))
        return memoryview(content).cast(np.dtype(case.dtype).char, case.shape)
    return memoryview(case.numpy())
