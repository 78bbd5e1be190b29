"""The comparison that a report, a figure or a step summary tells of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dlbench import _core
from dlbench import document as documents
from dlbench.errors import BadInput, os_reason

THRESHOLD = 0.05  #: changes within it are none, as `dlbench compare` has it
COMPARISON = "comparison.json"
SCHEMA = 1


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
    """What a run of two sides left beside its document. Raises BadInput where it is damaged."""
    path = folder / COMPARISON
    if not path.is_file():
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"cannot read {path}: {os_reason(error)}") from error
    except ValueError as error:
        raise BadInput(f"{path}: not JSON: {error}") from error
    if not isinstance(found, dict) or found.get("dlbench_comparison") != SCHEMA:
        raise BadInput(f"{path}: no comparison of schema {SCHEMA}")
    return found
