"""A comparison of two sides as the page holds it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from dlbench.compare import table

from . import packing

#: Of each cell, in this order; the page names them by it.
KEYS = ("name", "base", "head", "ratio", "lo", "hi", "verdict", "presence", "base_outcome",
        "head_outcome", "outcome_change")  # fmt: skip


def packed(comparison: Mapping[str, Any]) -> str:
    """Its head, and a row a cell."""
    head = {key: value for key, value in comparison.items() if key != "cells"}
    return packing.packed({**head, "keys": [*KEYS, "label", "details"], "rows": rows(comparison)})


def rows(comparison: Mapping[str, Any]) -> list[list[Any]]:
    """The cells' values by KEYS, what a cell is called, and the details; what matters most comes
    first."""
    cells = sorted(comparison["cells"], key=_weight)
    return [[*(cell.get(key) for key in KEYS), " ".join(table.named(cell)).replace("->", "\u2192"),
             "; ".join(cell.get("details") or ())] for cell in cells]  # fmt: skip


def _weight(cell: Mapping[str, Any]) -> tuple[int, float, str]:
    change, presence, verdict = (cell.get(key) for key in
                                 ("outcome_change", "presence", "verdict"))  # fmt: skip
    ratio = cell.get("ratio")
    size = -abs(math.log(ratio)) if ratio else 0.0
    if change == "worse" or presence == "lost":
        return 0, size, cell["name"]
    if change or presence == "gained":
        return 3, size, cell["name"]
    ranks = {"SLOW": 1, "FAST": 2, "AMBIG": 4, "SAME": 5}
    return ranks.get(verdict or "", 6), size, cell["name"]
