"""dlbench measures the exchange of arrays between Python array libraries.

Adapters import `Call`, `Capsule`, `Unsupported` and `X` from here; `load` reads a run's results.
"""

from __future__ import annotations

from os import PathLike
from typing import Any

from dlbench.adapter import Call, Capsule, Unsupported, X

__all__ = ["Call", "Capsule", "Unsupported", "X", "load"]


def load(run: str | PathLike[str] = "latest", frame: str = "pandas") -> Any:
    """A run as a data frame of `pandas` or `polars`: one row a cell, measured or not.

    `run` is a run's folder, a results.json, or `latest`. Times are in nanoseconds; a value that a
    cell does not have is missing, never 0. Raises ValueError, one line, for what is no run.
    """
    # Workers import this package for its adapters; they have no use for the rest.
    from dlbench import frames

    return frames.load(run, frame)
