"""Pandas' series: arrays of unknown types become one object each."""

import pandas as pd

from dlbench import Call, X

DEFAULT = False

PROTOCOLS = {"convert": Call(pd.Series, X, copy=False)}
