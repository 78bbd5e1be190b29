"""Pandas' series over NumPy's memory, with an index; with nulls in a nullable dtype."""

import pandas as pd

SCRIPT = {
    "make": "array = pd.Series(source, index=pd.RangeIndex(1, len(source) + 1), copy=False)",
    "make nulls": (
        "content = pd.array(source, dtype='Float32')\n"
        "array = pd.Series(content, index=pd.RangeIndex(1, len(source) + 1), copy=False)"
    ),
    "own": "array = array.copy(){slice}",
    "memory": "getattr({array}.array, '_data', {array}.to_numpy())",
}

DEFAULT = False
SPECIAL = ("nulls",)

values = pd.Series.to_numpy


def memory(array):
    # `to_numpy` copies a nullable dtype.
    stored = getattr(array.array, "_data", None)
    return array.to_numpy() if stored is None else stored


def make(case, device):
    def series(content):
        if case.special == "nulls":
            content = pd.array(content, dtype="Float32")
        return pd.Series(content, index=pd.RangeIndex(1, len(content) + 1), copy=False)

    return case.build(series, pd.Series.copy)


def extras(array):
    found = {}
    if not array.index.equals(pd.RangeIndex(len(array))):
        found["index"] = (array.index.to_numpy(),)
    if isinstance(array.dtype, pd.api.extensions.ExtensionDtype) and array.hasnans:
        found["nulls"] = array.isna().to_numpy()
    return found
