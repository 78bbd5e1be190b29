"""Awkward's arrays, over NumPy's memory if no element is missing."""

import awkward as ak
import numpy as np

SCRIPT = {
    "make": "array = ak.from_numpy(source)",
    "make nulls": "array = ak.mask(ak.from_numpy(source), source < 127)",
    "own": "array = ak.copy(array){slice}",
    "memory": "ak.to_numpy({array}.layout.content if {array}.layout.is_option else {array})",
    "values": "ak.to_numpy({array})",
}

DEFAULT = False
SPECIAL = ("nulls",)


def memory(array):
    # `to_numpy` copies an array with missing elements.
    layout = array.layout
    return ak.to_numpy(layout.content if layout.is_option and not layout.is_indexed else array)


def make(case, device):
    array = case.build(ak.from_numpy, ak.copy)
    return ak.mask(array, array < 127) if case.special == "nulls" else array


def values(array):
    found = ak.to_numpy(array)
    if not isinstance(found, np.ma.MaskedArray):
        return found
    # Keep the dtype: NaN for a missing integer would convert all elements to floats.
    return found.filled(np.nan if found.dtype.kind == "f" else 0)


def extras(array):
    nulls = ak.to_numpy(ak.is_none(array, axis=-1))
    return {"nulls": nulls} if nulls.any() else {}
