"""The comparison in a report, a figure or a step summary."""

from __future__ import annotations

import filecmp
from pathlib import Path
from typing import Any

from dlbench import _core
from dlbench.document import Comparison, as_document, locate, read_comparison
from dlbench.errors import BadInput

COMPARISON = "comparison.json"


def compare(base: Path, head: Path, **wanted: Any) -> Comparison:
    """Compares two runs, by default with every cell.

    Raises _core.UsageError, as for runs of two machines, and BadInput for a run and itself.
    """
    with as_document(base) as before, as_document(head) as after:
        if filecmp.cmp(before, after, shallow=False):
            is_one = base.resolve() == head.resolve()
            places = str(base) if is_one else f"{base} and {head} are equal"
            raise BadInput(f"base and head are the same run ({places}): nothing can have changed")
        return Comparison(_core.compare(base=[str(before)], head=[str(after)], **wanted))


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
