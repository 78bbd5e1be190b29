"""The exchanges of a plan, by the couple whose worker makes them."""

from __future__ import annotations

from collections.abc import Iterable

from dlbench import _core, afterwards
from dlbench import document as documents
from dlbench.grouping import grouped
from dlbench.values import Entry


def couples(cells: Iterable[_core.Cell]) -> list[list[Entry]]:
    """Each exchange once, whatever phases and clocks were asked for, as an entry without a result;
    in the order of the plan."""
    found: dict[str, Entry] = {}
    for cell in cells:
        name = documents.exchange_name(cell)
        axes = {axis: getattr(cell, axis) for axis in documents.EXCHANGE}
        found.setdefault(name, {**axes, "name": name, "clock": "call"})
    return list(grouped(found.values(), afterwards.couple_of).values())
