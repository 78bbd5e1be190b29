"""dlbench measures the exchange of arrays between Python array libraries.

Adapters import `Call`, `Capsule`, `Unsupported` and `X` from here; `load` reads a run's results.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in `typing`, which takes time to import
if TYPE_CHECKING:
    from os import PathLike
    from typing import Any

    from dlbench.adapter import Call, Capsule, Unsupported, X

__all__ = ["Call", "Capsule", "Unsupported", "X", "load"]


def __getattr__(name: str) -> Any:
    """Imports what adapters use on first use, because every pytest run imports this package."""
    if name not in __all__:
        raise AttributeError(f"module 'dlbench' has no attribute {name!r}")
    from dlbench import adapter

    globals().update({key: getattr(adapter, key) for key in __all__ if key != "load"})
    return globals()[name]


def load(run: str | PathLike[str] = "latest", frame: str = "pandas") -> Any:
    """A run as a data frame of `pandas` or `polars`: one row for each cell, measured or not.

    `run` is a run's folder, a results.json, or `latest`. Times are in nanoseconds; a value that a
    cell does not have is missing, never 0. Raises ValueError where `run` is not a run.
    """
    # Workers import this package for its adapters only.
    from dlbench import frames

    return frames.load(run, frame)
