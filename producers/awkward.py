"""Awkward's arrays, of NumPy's memory where nothing is missing."""

import awkward as ak
import numpy as np

DEFAULT = False
SPECIAL = ("nulls",)

memory = ak.to_numpy


def make(case, device):
    array = ak.from_numpy(case.numpy())
    return ak.nan_to_none(array) if case.special == "nulls" else array


def values(array):
    return ak.to_numpy(ak.fill_none(array, np.float32("nan")))


def extras(array):
    return ("nulls",) if ak.any(ak.is_none(array)) else ()
