"""memoryviews of NumPy's memory, or of a bytearray, cast to a dtype and a shape."""

import numpy as np

SCRIPT = {
    "make": "array = memoryview(source)",
    "make cast": "array = memoryview(bytearray(source)).cast(source.dtype.char, source.shape)",
}

DISTRIBUTION = None
DEFAULT = False
ARGUMENTS = {"cast": ""}


def make(case, device):
    if ARGUMENT[0] == "cast":
        return memoryview(bytearray(case.numpy())).cast(np.dtype(case.dtype).char, case.shape)
    return memoryview(case.numpy())
