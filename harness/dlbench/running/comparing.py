"""The comparison in a report, a figure or a step summary."""

from __future__ import annotations

import filecmp
from pathlib import Path

from dlbench import _core
from dlbench.document import Comparison, locate, read_comparison
from dlbench.errors import BadInput

COMPARISON = "comparison.json"


def compare(base: Path, head: Path) -> Comparison:
    """Compares two documents, with every cell.

    Raises _core.UsageError, as for runs of two machines, and BadInput for a run and itself.
    """
    require_two_runs(base, head)
    return Comparison(_core.compare(base=[str(base)], head=[str(head)]))


def require_two_runs(base: Path, head: Path) -> None:
    """Raises BadInput for one run on both sides: an equal result would be no result."""
    if filecmp.cmp(base, head, shallow=False):
        places = str(base) if base.resolve() == head.resolve() else f"{base} and {head} are equal"
        raise BadInput(f"base and head are the same run ({places}): nothing can have changed")


def since(base: str | None, head: Path) -> Comparison:
    """The comparison of a run with `base`; without `base`, the stored one of its two sides. Raises
    BadInput."""
    if base is not None:
        return compare(locate(base), head)
    found = kept(head.parent)
    if found is None:
        raise BadInput("missing --base RUN: the figure `change` shows changes since that run")
    return found


def kept(folder: Path) -> Comparison | None:
    """The comparison that a run of two sides stored beside its document.

    Raises as `read_document` does.
    """
    path = folder / COMPARISON
    return read_comparison(path) if path.is_file() else None
