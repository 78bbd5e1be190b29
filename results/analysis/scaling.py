"""Exchanges that take longer for larger arrays, because they touch the bytes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from rich.text import Text

from dlbench import values
from dlbench.analysis import chance
from dlbench.document import AXES, Axis, Document, Entry, Measured
from dlbench.text.layout import columns, fold, shorten

GROWS = 1.5  #: largest over smallest size; below this, caches explain it
PROCESSES = "processes"  #: an interval that includes the spread between processes
RANGE = "range"  #: an interval of few rounds
LEAST_NS = 0.01  #: the least end of an interval, so that it has a logarithm
MOST_ROWS = 6

Key = tuple[Axis, ...]
Sizes = dict[int, Measured]


def scaling(document: Document, protocols: Sequence[str], width: int) -> list[Text]:
    """A small table of the steepest exchanges; empty where one size was measured alone."""
    found: dict[Key, Sizes] = {}
    for entry in document.measured:
        if entry.protocol in protocols and entry.is_exchange:
            found.setdefault(entry.axes(AXES), {})[entry.bytes] = entry
    sizes = sorted({size for of_cell in found.values() for size in of_cell})
    if len(sizes) < 2:
        return []
    known = {key: of for key, of in found.items() if sizes[0] in of and sizes[-1] in of}
    if not known:
        return []
    growth = {key: of[sizes[-1]].median_ns / of[sizes[0]].median_ns for key, of in known.items()}
    longer = [key for key in growth if growth[key] >= GROWS]
    times = chance.times_as_wide(len(known))
    steep = [key for key in longer if _is_shown(known[key], sizes, times)]
    steep.sort(key=lambda key: -growth[key])
    # Only the steepest exchange of each consumer: most copies are made by the consumer.
    consumer, device = AXES.index("consumer"), AXES.index("device")
    by_consumer = {(key[consumer], key[device]): key for key in reversed(steep)}
    steepest = sorted(by_consumer.values(), key=steep.index)
    lines = [
        Text(line, style="bold") for line in fold(_summary(known, longer, steep), width, gap=" ")
    ]
    if not steep:
        return lines
    named = differing(next(iter(of.values())) for of in found.values())
    rows = [["", "", *named, *(values.size(size) for size in sizes)]]
    rows += [_row(named, found[key], sizes) for key in steepest[:MOST_ROWS]]
    table = columns(rows, right=range(2 + len(named), len(rows[0])))
    return lines + [Text(shorten(f" {line}", width)) for line in table]


def differing(entries: Iterable[Entry]) -> list[str]:
    """The axes among `device`, `case` and `arrays` on which these entries differ: rows must name
    them."""
    found = list(entries)
    return [axis for axis in ("device", "case", "arrays") if len({e.axis(axis) for e in found}) > 1]


def _is_shown(of_cell: Sizes, sizes: Sequence[int], times: float) -> bool:
    """Are the intervals of the smallest and the largest size disjoint? Each is `times` as wide as
    at 95 % and includes the spread between processes."""
    small, large = of_cell[sizes[0]], of_cell[sizes[-1]]
    widths = sum(times * log_half_width(entry) for entry in (small, large))
    return math.log(large.median_ns / small.median_ns) > widths


def log_half_width(entry: Measured) -> float:
    """Half-width of the median's 95 % interval as a logarithm, with the spread between processes;
    infinite if unknown."""
    low, high = max(entry.lo_ns, LEAST_NS), max(entry.hi_ns, LEAST_NS)
    within = max(math.log(high / low) / 2, 0.0)
    if entry.interval == PROCESSES:
        return within
    # The coverage of a range is not known.
    if entry.interval == RANGE or entry.between_half_width is None:
        return math.inf
    return math.hypot(within, math.log1p(entry.between_half_width))


def _summary(known: Iterable[Key], longer: Iterable[Key], steep: Iterable[Key]) -> list[str]:
    """The number of exchanges that grow with size, and of those that may."""
    total, shown = _exchanges(known), _exchanges(steep)
    first = f"grows with size: {shown} of {total} exchanges"
    if not shown:
        first = f"none of {total} exchanges takes significantly longer for larger arrays"
    doubtful = _exchanges(longer) - shown
    if doubtful:
        return [f"{first};", f"{doubtful} more took at least {GROWS}x as long, which may be chance"]
    others = "all" if not shown else "the others"
    return [f"{first};", f"{others} took less than {GROWS}x"] if shown < total else [first]


def _exchanges(keys: Iterable[Key]) -> int:
    """Number of exchanges, counting one that was measured by several clocks once."""
    clock = AXES.index("clock")
    return len({(*key[:clock], *key[clock + 1 :]) for key in keys})


def _row(named: list[str], of_cell: Sizes, sizes: list[int]) -> list[str]:
    any_ = next(iter(of_cell.values()))
    how = any_.protocol if any_.clock == "call" else f"{any_.protocol} ({any_.clock})"
    how += f" in {any_.environment}" if any_.environment != "default" else ""
    times = [values.time(of_cell[s]) if s in of_cell else "" for s in sizes]
    place = [str(any_.axis(axis)) for axis in named]
    return [f"{any_.producer} -> {any_.consumer}", how, *place, *times]
