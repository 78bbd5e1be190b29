"""Polars' series: one-dimensional, in memory of its own kind."""

import polars as pl

from dlbench.adapter import require, require_packable

DEFAULT = False
SPECIAL = ("nulls",)


def make(case, device):
    require_packable(case, "Polars")
    require(not case.offset, "Polars decides where its series lie")
    return pl.Series(case.numpy(), nan_to_null=case.special == "nulls")


def values(array):
    # Of its own dtype: a missing integer must not make floats of the others.
    return (array if array.dtype.is_float() else array.fill_null(strategy="zero")).to_numpy()


def memory(array):
    return array.to_numpy(allow_copy=False)


def extras(array):
    return {"nulls": array.is_null().to_numpy()} if array.null_count() else {}
