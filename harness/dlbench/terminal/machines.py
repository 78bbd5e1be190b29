"""The machines of a merged document side by side: a line each, relative to one of them."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from rich.text import Text

from dlbench import values
from dlbench.analysis.machines import Exchange, Key, by_machine, exchanges
from dlbench.document import Document, Entry
from dlbench.text.layout import columns, shorten

HEADS = ("machine", "exchanges", "median", "10 %", "90 %", "other outcome")


def side_by_side(document: Document, width: int, relative_to: str = "") -> list[Text]:
    """The table; empty unless two machines measured the same exchange. The first machine is the
    base unless one is named."""
    if len(document.machines) < 2:
        return []
    base = relative_to or document.machines[0]
    outcomes = by_machine(document)
    shared = list(exchanges(document, base))
    rows = [
        _row(name, shared, outcomes[base], outcomes[name])
        for name in document.machines
        if name != base
    ]
    if not any(row[1] != "0" for row in rows):
        return []
    heading = f"machines, relative to {base}   times of exchanges that both measured"
    lines = columns([HEADS, *rows], right=range(1, len(HEADS)))
    return [
        Text(),
        Text(shorten(heading, width), style="bold"),
        *(Text(shorten(f" {line}", width)) for line in lines),
    ]


def _row(
    name: str, shared: Sequence[Exchange], first: Mapping[Key, Entry], other: Mapping[Key, Entry]
) -> tuple[str, ...]:
    ratios = [each.ratios[name] for each in shared if name in each.ratios]
    differ = sum(
        first[key].observed_outcome != entry.observed_outcome
        for key, entry in other.items()
        if key in first
    )
    if not ratios:
        return name, "0", "", "", "", str(differ)
    tenths = (
        statistics.quantiles(ratios, n=10, method="inclusive") if len(ratios) > 1 else ratios * 9
    )
    shown = (statistics.median(ratios), tenths[0], tenths[-1])
    return name, str(len(ratios)), *(values.number(ratio) for ratio in shown), str(differ)
