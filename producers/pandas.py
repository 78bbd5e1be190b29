"""Pandas' series over NumPy's memory, with an index; with nulls in a nullable dtype."""

import pandas as pd

SCRIPT = {
    "make": "array = pd.Series(source, index=pd.RangeIndex(1, len(source) + 1), copy=False)",
    "make nulls": (
        "kind = {'f': pd.arrays.FloatingArray}.get(source.dtype.kind, pd.arrays.IntegerArray)\n"
        "content = kind(source, mask=~(source < 127))\n"
        "array = pd.Series(content, index=pd.RangeIndex(1, len(source) + 1), copy=False)"
    ),
    "own": "array = array.copy(){slice}",
    "memory": "getattr({array}.array, '_data', {array}.to_numpy())",
}

DEFAULT = False
SPECIAL = ("nulls",)


def values(array):
    is_nullable = isinstance(array.dtype, pd.api.extensions.ExtensionDtype)
    # Keep the dtype: NaN for a missing integer would convert all elements to floats.
    filled = array.fillna(0) if is_nullable and array.dtype.kind in "iu" else array
    return filled.to_numpy()


def memory(array):
    # `to_numpy` copies a nullable dtype. Read-only, as what it returns of others: a write to a
    # series ends its sharing.
    stored = getattr(array.array, "_data", None)
    if stored is None:
        return array.to_numpy()
    view = stored[:]
    view.flags.writeable = False
    return view


def make(case, device):
    def series(content):
        if case.special == "nulls":
            is_float = content.dtype.kind == "f"
            kind = pd.arrays.FloatingArray if is_float else pd.arrays.IntegerArray
            content = kind(content, case.nulls(content))
        return pd.Series(content, index=pd.RangeIndex(1, len(content) + 1), copy=False)

    return case.build(series, pd.Series.copy)


def extras(array):
    found = {}
    if not array.index.equals(pd.RangeIndex(len(array))):
        found["index"] = (array.index.to_numpy(),)
    if isinstance(array.dtype, pd.api.extensions.ExtensionDtype) and array.hasnans:
        found["nulls"] = array.isna().to_numpy()
    return found
