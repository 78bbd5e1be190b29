"""Pandas' series; an array of an unknown type becomes one object."""

import pandas as pd

from dlbench import Call, X

DEFAULT = False

PROTOCOLS = {"convert": Call(pd.Series, X, copy=False)}
CALLS = {"Index": pd.Index, "Series": pd.Series}
