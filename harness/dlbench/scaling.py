"""Which exchanges take longer for larger arrays: those that touch the bytes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.text import Text

from dlbench import chance, values
from dlbench import document as documents
from dlbench.layout import columns, fold, shorten
from dlbench.values import Entry

GROWS = 1.5  #: largest over smallest size; below this, caches explain it
PROCESSES = "processes"  #: an interval that holds what processes differ by
RANGE = "range"  #: an interval of few rounds or processes
LEAST_NS = 0.01  #: an end that a logarithm can be taken of
MOST_ROWS = 6

Key = tuple[str, ...]
Sizes = dict[int, Entry]


def scaling(document: dict[str, Any], protocols: Sequence[str], width: int) -> list[Text]:
    """A small table of the steepest exchanges; empty where one size was measured alone."""
    found: dict[Key, Sizes] = {}
    for entry in document.get("benchmarks", []):
        if entry["protocol"] in protocols and entry["phase"] == "exchange":
            key = tuple(entry[axis] for axis in documents.AXES)
            found.setdefault(key, {})[entry["bytes"]] = entry
    sizes = sorted({size for of_cell in found.values() for size in of_cell})
    if len(sizes) < 2:
        return []
    known = {key: of for key, of in found.items() if sizes[0] in of and sizes[-1] in of}
    if not known:
        return []
    growth = {
        key: of[sizes[-1]]["real_time"] / of[sizes[0]]["real_time"] for key, of in known.items()
    }
    longer = [key for key in growth if growth[key] >= GROWS]
    places = documents.environments(document)
    times = chance.times_as_wide(len(known))
    steep = [key for key in longer if _is_shown(known[key], sizes, places, times)]
    steep.sort(key=lambda key: -growth[key])
    # The steepest of each consumer: what copies is the consumer's doing, most often.
    consumer, device = documents.AXES.index("consumer"), documents.AXES.index("device")
    by_consumer = {(key[consumer], key[device]): key for key in reversed(steep)}
    told = sorted(by_consumer.values(), key=steep.index)
    lines = [
        Text(line, style="bold") for line in fold(_summary(known, longer, steep), width, gap=" ")
    ]
    if not steep:
        return lines
    named = documents.differing(dict(zip(documents.AXES, key, strict=True)) for key in found)
    rows = [["", "", *named, *(values.size(size) for size in sizes)]]
    rows += [_row(key, named, found[key], sizes) for key in told[:MOST_ROWS]]
    table = columns(rows, right=range(2 + len(named), len(rows[0])))
    return lines + [Text(shorten(f" {line}", width)) for line in table]


def _is_shown(
    of_cell: Sizes, sizes: Sequence[int], places: Mapping[str, Any], times: float
) -> bool:
    """Are the intervals of the smallest and the largest size apart, each `times` as wide as at 95 %
    and with what two processes differ by?"""
    small, large = of_cell[sizes[0]], of_cell[sizes[-1]]
    anchor = places.get(small["environment"], {}).get("anchor", {})
    between = anchor.get("half_width")
    kinds = {small.get("interval"), large.get("interval")}
    # The share that a range covers is not known.
    if RANGE in kinds or (between is None and kinds != {PROCESSES}):
        return False
    widths = sum(times * _half_width(entry, between or 0.0) for entry in (small, large))
    return math.log(large["real_time"] / small["real_time"]) > widths


def _half_width(entry: Entry, between: float) -> float:
    """Of the median at 95 %, as a logarithm. `between`: how far one process may lie off."""
    low, high = max(entry["lo_ns"], LEAST_NS), max(entry["hi_ns"], LEAST_NS)
    within = max(math.log(high / low) / 2, 0.0)
    if entry.get("interval") == PROCESSES:
        return within
    return math.hypot(within, math.log1p(between))


def _summary(known: Iterable[Key], longer: Iterable[Key], steep: Iterable[Key]) -> list[str]:
    """What is shown, and what is seen and not shown."""
    total, shown = _exchanges(known), _exchanges(steep)
    first = f"grows with size: {shown} of {total} exchanges"
    if not shown:
        first = f"no exchange of {total} is shown to take longer for larger arrays"
    doubtful = _exchanges(longer) - shown
    if doubtful:
        return [f"{first};", f"{doubtful} more took {GROWS}x and longer, which may be chance"]
    others = "all" if not shown else "the others"
    return [f"{first};", f"{others} took less than {GROWS}x"] if shown < total else [first]


def _exchanges(keys: Iterable[Key]) -> int:
    """How many exchanges, whatever clocks they were measured by."""
    clock = documents.AXES.index("clock")
    return len({(*key[:clock], *key[clock + 1 :]) for key in keys})


def _row(key: Key, named: list[str], of_cell: Sizes, sizes: list[int]) -> list[str]:
    axes = dict(zip(documents.AXES, key, strict=True))
    how = axes["protocol"] if axes["clock"] == "call" else f"{axes['protocol']} ({axes['clock']})"
    how += f" in {axes['environment']}" if axes["environment"] != "default" else ""
    times = [values.duration(of_cell[s]["real_time"]) if s in of_cell else "" for s in sizes]
    place = [axes[axis] for axis in named]
    return [f"{axes['producer']} -> {axes['consumer']}", how, *place, *times]
