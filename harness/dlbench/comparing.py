"""The comparison that a report, a figure or a step summary tells of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dlbench import _core
from dlbench import document as documents
from dlbench.errors import BadInput

THRESHOLD = 0.05  #: changes within it are none, as `dlbench compare` has it
COMPARISON = "comparison.json"


def compare(base: Path, head: Path) -> dict[str, Any]:
    """Two documents, every cell told. Raises _core.UsageError, as for runs of two machines."""
    return dict(_core.compare(base=[str(base)], head=[str(head)], threshold=THRESHOLD))


def since(base: str | None, head: Path) -> dict[str, Any]:
    """A run against `base`; without one, what it kept of its own two sides. Raises BadInput."""
    if base is not None:
        return compare(documents.locate(base), head)
    found = kept(head.parent)
    if found is None:
        raise BadInput("what did it change from? --base RUN")
    return found


def kept(folder: Path) -> dict[str, Any] | None:
    """What a run of two sides left beside its document. Raises as `documents.read` does."""
    path = folder / COMPARISON
    if not path.is_file():
        return None
    return documents.read(path, _core.validate_comparison)
