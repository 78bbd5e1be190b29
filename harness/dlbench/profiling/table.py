"""A profile on the terminal: exchanges and ranges, without times."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from dlbench import values
from dlbench.environments.environment import DEFAULT
from dlbench.passes.ranges import Cell, Profile
from dlbench.profiling.files import RANGES, TRACE
from dlbench.text.layout import columns, count, fold, shorten

HEAD = ("from -> to", "protocol", "device", "case", "size", "outcome", "ranges")
SINKS = {"nvtx": "NVTX (NVIDIA's tools)", "roctx": "ROCTX (AMD's tools)"}
HEARD = {
    "attached": "tool attached",
    "no tool": "no tool attached",
    "not built": "built without support",
    "no library": "library not found",
}


def lines(made: Profile, folder: Path, width: int) -> list[Text]:
    """One line for each exchange, then the sinks of the ranges."""
    shown = _table(made.cells, width)
    facts = [f"{SINKS[key]}: {HEARD.get(word, word)}" for key, word in made.listening.items()]
    facts += [f"{made.lost} ranges lost"] if made.lost else []
    shown += [Text(), *map(Text, fold(facts, width))]
    whole = sum(1 for cell in made.cells if cell.ranges)
    what = (
        f"{count(whole, 'exchange')} profiled, none measured: times under a profiler are not valid"
    )
    shown.append(Text(shorten(what, width), style="bold"))
    shown.append(Text(shorten(f"{folder / TRACE} opens in ui.perfetto.dev", width)))
    shown.append(Text(shorten(f"{folder / RANGES} lists the ranges", width)))
    return shown


def _table(cells: Sequence[Cell], width: int) -> list[Text]:
    rows = [_row(cell) for cell in cells]
    heads = list(HEAD)
    if any(cell.exchange.environment != DEFAULT for cell in cells):
        heads.insert(1, "environment")
    if all(row["case"] == "f32" for row in rows):
        heads.remove("case")
    right = [heads.index("size"), heads.index("ranges")]
    found = columns([heads, *([row[head] for head in heads] for row in rows)], right)
    shown = [Text(shorten(found[0], width), style="bold")]
    for cell, line in zip(cells, found[1:], strict=True):
        # A refusal has no ranges; its reason is shown instead.
        text = line if cell.ranges else f"{line}  {' '.join(cell.reason.split())}"
        shown.append(Text(shorten(text, width), style="" if cell.ranges else "dim"))
    return shown


def _row(cell: Cell) -> dict[str, str]:
    axes = cell.exchange
    return {
        "from -> to": f"{axes.producer} -> {axes.consumer}",
        "environment": axes.environment,
        "protocol": axes.protocol,
        "device": axes.device,
        "case": axes.case,
        "size": values.size(axes.bytes),
        "outcome": cell.outcome,
        "ranges": str(sum(each["count"] for each in cell.ranges)) if cell.ranges else "",
    }
