"""Polars' series: one-dimensional, over NumPy's memory unless a case needs Polars' own."""

import polars as pl

from dlbench.adapter import require

SCRIPT = {
    "make": "array = pl.Series(source)",
    "make nulls": "array = pl.Series(source).set(pl.Series(~(source < 127)), None)",
    "own": "array = pl.Series(array.to_list(), dtype=array.dtype){slice}",
    "memory nulls": "",
    "memory bool": "",  # of packed bits
    "values": "{array}.to_numpy()",
}

DEFAULT = False
SPECIAL = ("nulls",)


def make(case, device):
    def series(content):
        array, nulls = pl.Series(content), case.nulls(content)
        return array if nulls is None else array.set(pl.Series(nulls), None)

    # `clone` shares its memory.
    return case.build(series, lambda array: pl.Series(array.to_list(), dtype=array.dtype))


def values(array):
    require(array.dtype != pl.Struct, "Polars made records of labels and values, not numbers")
    # `fill_null` aborts for such an array without elements.
    is_fillable = len(array) or "Object" not in str(array.dtype)
    require(is_fillable, "Polars made an array of Python objects")
    # Keep the dtype: NaN for a missing integer would convert all elements to floats.
    return (array if array.dtype.is_float() else array.fill_null(strategy="zero")).to_numpy()


def memory(array):
    return array.to_numpy(allow_copy=False)


def extras(array):
    return {"nulls": array.is_null().to_numpy()} if array.null_count() else {}
