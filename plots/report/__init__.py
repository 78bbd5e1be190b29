"""The report: one self-contained HTML file of one run or several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from dlbench.document import Comparison

from . import changes, page, parts
from .run import Packed, pack

__all__ = ["Packed", "pack", "require", "write"]


def require() -> None:
    """Raises ModuleNotFoundError, with the command that installs it, if the extra is missing."""
    parts.require()


def write(out: BinaryIO, runs: Sequence[Packed], comparison: Comparison | None = None) -> None:
    """The page of these runs; with a comparison, also the changes between its sides.

    Documents are packed one at a time and may be dropped before this is called.
    """
    page.write(out, runs, changes.packed(comparison) if comparison else None)
