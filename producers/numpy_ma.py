"""NumPy's masked arrays: every third element is masked and keeps its value, or none (`nomask`)."""

import numpy as np

SCRIPT = {
    "make": (
        "mask = np.arange(source.size).reshape(source.shape) % 3 == 0\n"
        "array = np.ma.MaskedArray(source, mask=mask, copy=False)"
    ),
    "make nomask": "array = np.ma.MaskedArray(source, copy=False)",
    "own": "array = array.copy(){slice}",
}

DISTRIBUTION = "numpy"
DEFAULT = False
SPECIAL = ("swapped",)
ARGUMENTS = {"nomask": ""}


def masked(content):
    every_third = np.arange(content.size).reshape(content.shape) % 3 == 0
    mask = np.ma.nomask if ARGUMENT[0] == "nomask" else every_third
    return np.ma.MaskedArray(content, mask=mask, copy=False)


def make(case, device):
    def broadcast_to(array, shape):
        return masked(np.broadcast_to(array.data, shape))  # NumPy's own drops the mask

    return case.build(masked, np.ma.MaskedArray.copy, broadcast_to)


# The array below the mask, which may itself be a quantity.
def memory(array):
    return array.data


def extras(array):
    return {"mask": np.ma.getmaskarray(array)} if np.ma.is_masked(array) else {}
