"""Polars' series: one-dimensional, in memory of its own kind."""

import polars as pl

from dlbench.adapter import require, require_packable

DEFAULT = False
SPECIAL = ("nulls",)

values = pl.Series.to_numpy


def make(case, device):
    require_packable(case, "Polars")
    require(not case.offset, "Polars decides where its series lie")
    return pl.Series(case.numpy(), nan_to_null=case.special == "nulls")


def memory(array):
    return array.to_numpy(allow_copy=False)


def extras(array):
    return ("nulls",) if array.null_count() else ()
