"""Polars' series, from objects of the types that Polars supports."""

import polars as pl

DEFAULT = False

PROTOCOLS = {"convert": pl.Series}
