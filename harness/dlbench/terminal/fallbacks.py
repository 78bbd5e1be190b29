"""The table under a case sweep: which pairs copy which cases, at what rate, in which library."""

from __future__ import annotations

from collections import defaultdict

from rich.cells import cell_len
from rich.text import Text

from dlbench import values
from dlbench.analysis import case_sweep
from dlbench.analysis.case_sweep import Fallback
from dlbench.document import Document
from dlbench.document.facts import COPIED
from dlbench.environments.environment import DEFAULT, where
from dlbench.text.escaping import dlbench_command
from dlbench.text.layout import at_the_right, columns, listing, pad, shorten, wrap

LEAST_ROOM = 24  #: least columns for the cases; with fewer they have a line of their own


def table(document: Document, width: int, run: str, most_rows: int) -> list[Text]:
    """At most `most_rows` rows of one kind. Empty unless all cases were requested."""
    if not case_sweep.has_case_sweep(document):
        return []
    entries = document.entries
    sweeps = case_sweep.case_sweeps(entries)
    kinds: dict[str, list[Fallback]] = defaultdict(list)
    for one in case_sweep.fallbacks(sweeps):
        kinds[one.kind].append(one)
    shown = [one for rows in kinds.values() for one in rows[:most_rows]]
    sizes = {entry.bytes for entry in entries if entry.case == case_sweep.BASELINE}
    at = f" at {values.size(min(sizes))}" if len(sizes) > 1 else ""
    title = f"cases with an outcome other than f32's{at}: copied, changed, refused or not made"
    lines = [Text(shorten(title, width), style="bold")]
    if not shown:
        return [*lines, Text("none")]
    several = len({one.device for one in sweeps}) > 1
    heads = columns([_head(one, several) for one in shown])
    room = width - max(map(cell_len, heads)) - 2
    for one, head in zip(shown, heads, strict=True):
        cases = wrap(one.spelled, max(room, LEAST_ROOM))
        if room < LEAST_ROOM:
            lines.append(Text(shorten(head, width), style=_style(one)))
            lines += [Text(f"  {part}") for part in wrap(one.spelled, width - 2)]
            continue
        for index, part in enumerate(cases):
            start = pad(head if index == 0 else "", width - room)
            lines.append(Text(start + part, style=_style(one)))
    more = {kind: len(rows) - most_rows for kind, rows in kinds.items() if len(rows) > most_rows}
    if more:
        rest = ", ".join(f"{count} of {kind}" for kind, count in more.items())
        lines.append(Text(shorten(f"and more: {rest}", width), style="dim"))
    first = shown[0]
    if first.pairs:
        producer, consumer = first.pairs[0]
        words = [producer, consumer, first.cases[0]]
        words += [first.device] if several else []
        words += [] if first.environment == DEFAULT else [first.environment]
        # All entries of one machine's share have the same machine.
        words += [machine] if (machine := entries[0].machine) else []
        command = dlbench_command("show", run, *words)
        lines.append(Text(at_the_right(command, width), style="cyan"))
    return lines


def _head(one: Fallback, with_device: bool) -> list[str]:
    place, device = where(one.environment), [one.device] if with_device else []
    if not one.pairs:
        return [one.producer + place, *device, "", one.becomes]
    producers = listing([producer for producer, _ in one.pairs], 2)
    becomes = one.becomes
    if one.rates:
        becomes += f" {values.extent(one.rates, values.rate)} GB/s"
    protocols = ", ".join(one.protocols)
    return [f"{producers} -> {one.pairs[0][1]}{place}", *device, protocols, becomes]


def _style(one: Fallback) -> str:
    if one.kind == case_sweep.NOT_MADE:
        return "dim"
    return "yellow" if one.kind in COPIED else ""
