"""Polars' series, from what it knows by type."""

import polars as pl

DEFAULT = False

PROTOCOLS = {"convert": pl.Series}
