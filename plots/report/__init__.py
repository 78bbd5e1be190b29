"""The report: one HTML file of one run or several, which needs nothing else to be read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from dlbench.document import Comparison

from . import changes, page, parts
from .run import Packed, pack

__all__ = ["Packed", "pack", "require", "write"]


def require() -> None:
    """Raises ModuleNotFoundError, the line to type in it, where the extra is not installed."""
    parts.require()


def write(out: BinaryIO, runs: Sequence[Packed], comparison: Comparison | None = None) -> None:
    """The page of these runs; with a comparison, what changed between its two sides.

    Documents are packed one at a time and may be dropped before this is called.
    """
    page.write(out, runs, changes.packed(comparison) if comparison else None)
