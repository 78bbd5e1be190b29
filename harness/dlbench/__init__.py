"""dlbench measures the exchange of arrays between Python array libraries.

Adapters import `Call`, `Capsule`, `Unsupported` and `X` from here. `run` makes a run, and `load`
reads the results of one.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in `typing`, which takes time to import
if TYPE_CHECKING:
    from os import PathLike
    from typing import Any

    from dlbench.adapter import Call, Capsule, Unsupported, X
    from dlbench.command.api import Run

__all__ = ["Call", "Capsule", "Unsupported", "X", "load", "run"]
ADAPTERS = __all__[:4]


def __getattr__(name: str) -> Any:
    """Imports what adapters use on first use, because every pytest run imports this package."""
    if name == "__version__":
        from dlbench._core import version

        return version
    if name not in ADAPTERS:
        raise AttributeError(f"module 'dlbench' has no attribute {name!r}")
    from dlbench import adapter

    globals().update({key: getattr(adapter, key) for key in ADAPTERS})
    return globals()[name]


def load(run: str | PathLike[str] = "latest") -> Run:
    """The results of a run: its folder, a results.json, or `latest`. Raises ValueError where `run`
    is not a run."""
    # Workers import this package for its adapters only.
    from dlbench.command import api

    return api.load(run)


def run(*libraries: str, **options: Any) -> Run:
    """Measures the pairs of these libraries, or without any the whole matrix, and returns the
    results. `options` are those of the command line, such as `sizes=["4KiB"]`, `replicas=5`,
    `sync=True`, `quiet=False`. Raises ValueError for a bad option.
    """
    from dlbench.command import api

    return api.run(*libraries, **options)
