"""Polars' series, from objects of the types that Polars supports."""

import polars as pl

DEFAULT = False

PROTOCOLS = {"convert": pl.Series}
CALLS = {"from_arrow": pl.from_arrow, "from_pandas": pl.from_pandas}
