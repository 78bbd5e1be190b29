"""The comparison of two sides in the page's format."""

from __future__ import annotations

import math
from pathlib import Path

from dlbench.document import ComparedCell, Comparison
from dlbench.terminal import changes

from . import packing

#: The values of each cell, in the order that the page expects.
KEYS = ("name", "base", "head", "ratio", "lo", "hi", "verdict", "presence", "base_outcome",
        "head_outcome", "outcome_change")  # fmt: skip


def packed(comparison: Comparison) -> str:
    """The comparison's facts, and a row for each cell."""
    head = comparison.to_json(without=("cells",))
    # Omit folders, because the page may be shared.
    for name, side in comparison.sides.items():
        head[name] = side.to_json() | {"runs": [Path(run).name for run in side.runs]}
    return packing.packed({**head, "keys": [*KEYS, "label", "details"], "rows": rows(comparison)})


def rows(comparison: Comparison) -> list[list[object]]:
    """The cells' values by KEYS, the cell's label, and the details; the most important cells
    first."""
    return [[*(getattr(cell, key) for key in KEYS),
             " ".join(changes.named(cell)).replace("->", "\u2192"), "; ".join(cell.details)]
            for cell in sorted(comparison.cells, key=_weight)]  # fmt: skip


def _weight(cell: ComparedCell) -> tuple[int, float, str]:
    size = -abs(math.log(cell.ratio)) if cell.ratio else 0.0
    if cell.outcome_change == "worse" or cell.presence == "lost":
        return 0, size, cell.name
    if cell.outcome_change or cell.presence == "gained":
        return 3, size, cell.name
    ranks = {"SLOW": 1, "FAST": 2, "INCONCLUSIVE": 4, "AMBIG": 5, "SAME": 6}
    return ranks.get(cell.verdict or "", 7), size, cell.name
