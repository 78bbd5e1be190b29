"""Which exchanges take longer for larger arrays: those that touch the bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.text import Text

from dlbench import document as documents
from dlbench import values
from dlbench.layout import columns, shorten

GROWS = 1.5  #: largest over smallest size; below this, noise and caches explain it
MOST_ROWS = 6


def scaling(document: dict[str, Any], protocols: Sequence[str], width: int) -> list[Text]:
    """A small table of the steepest exchanges; empty where one size was measured alone."""
    times: dict[tuple[str, ...], dict[int, float]] = {}
    for entry in document.get("benchmarks", []):
        if entry["protocol"] in protocols and entry["phase"] == "exchange":
            key = tuple(entry[axis] for axis in documents.AXES)
            times.setdefault(key, {})[entry["bytes"]] = entry["real_time"]
    sizes = sorted({size for of_cell in times.values() for size in of_cell})
    if len(sizes) < 2:
        return []
    growth = {
        key: of_cell[sizes[-1]] / of_cell[sizes[0]]
        for key, of_cell in times.items()
        if sizes[0] in of_cell and sizes[-1] in of_cell
    }
    if not growth:
        return []
    steep = sorted((key for key in growth if growth[key] >= GROWS), key=lambda key: -growth[key])
    # The steepest of each consumer: what copies is the consumer's doing, most often.
    consumer, device = documents.AXES.index("consumer"), documents.AXES.index("device")
    by_consumer = {(key[consumer], key[device]): key for key in reversed(steep)}
    told = sorted(by_consumer.values(), key=steep.index)
    if not steep:
        line = f"no exchange of {_exchanges(growth)} takes longer for larger arrays"
        return [Text(shorten(line, width), style="bold")]
    grown, known = _exchanges(steep), _exchanges(growth)
    title = f"grows with size: {grown} of {known} exchanges"
    rest = f"; the others stay within {GROWS}x" if grown < known else ""
    named = documents.differing(dict(zip(documents.AXES, key, strict=True)) for key in times)
    rows = [["", "", *named, *(values.size(size) for size in sizes)]]
    rows += [_row(key, named, times[key], sizes) for key in told[:MOST_ROWS]]
    table = columns(rows, right=range(2 + len(named), len(rows[0])))
    lines = [Text(shorten(title + rest, width), style="bold")]
    return lines + [Text(shorten(f" {line}", width)) for line in table]


def _exchanges(keys: Iterable[tuple[str, ...]]) -> int:
    """How many exchanges, whatever clocks they were measured by."""
    clock = documents.AXES.index("clock")
    return len({(*key[:clock], *key[clock + 1 :]) for key in keys})


def _row(
    key: tuple[str, ...], named: list[str], times: dict[int, float], sizes: list[int]
) -> list[str]:
    axes = dict(zip(documents.AXES, key, strict=True))
    how = axes["protocol"] if axes["clock"] == "call" else f"{axes['protocol']} ({axes['clock']})"
    how += f" in {axes['environment']}" if axes["environment"] != "default" else ""
    shown = [values.duration(times[size]) if size in times else "" for size in sizes]
    place = [axes[axis] for axis in named]
    return [f"{axes['producer']} -> {axes['consumer']}", how, *place, *shown]
