"""The comparison of two sides in the page's format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dlbench.analysis import compared, inconclusive
from dlbench.document import Comparison

from . import packing

#: The values of each cell, in the order that the page expects.
KEYS = ("name", "base", "head", "ratio", "lo", "hi", "result", "speed")


def packed(comparison: Comparison, labels: Sequence[str]) -> str:
    """The comparison's facts, and a row for each cell. `labels`: the page's names for its runs, of
    which the first is base and the last is head; two environments of one run have names."""
    head = {**comparison.to_json(without=("cells",)), "counted": comparison.counted(),
            "undecided": inconclusive.in_words(comparison, "--replicas")}  # fmt: skip
    of_runs = {"base": labels[0], "head": labels[-1]} if len(labels) > 1 else {}
    # Omit folders, because the page may be shared.
    for name, side in comparison.sides.items():
        names = [Path(run).name for run in side.runs] if not side.environment else []
        names = [of_runs[name]] if name in of_runs else names
        head[name] = side.to_json() | {"runs": names}
    return packing.packed({**head, "keys": [*KEYS, "outcomes", "label"], "rows": rows(comparison)})


def rows(comparison: Comparison) -> list[list[object]]:
    """The cells' values by KEYS, their outcomes and labels; the most important cells first."""
    return [[*(getattr(cell, key) for key in KEYS),
             *(text.replace("->", "\u2192")
               for text in (cell.outcomes, " ".join(compared.named(cell))))]
            for cell in sorted(comparison.cells, key=lambda cell: cell.rank)]  # fmt: skip
