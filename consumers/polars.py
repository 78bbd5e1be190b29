"""Polars' series, made from objects of types that it knows."""

import polars as pl

DEFAULT = False

PROTOCOLS = {"convert": pl.Series}
