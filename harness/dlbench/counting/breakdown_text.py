"""An instruction breakdown as text."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from dlbench import values
from dlbench.analysis.phases import has_shares
from dlbench.counting import code_owner
from dlbench.counting.breakdown import NO_PYTHON, Breakdown, Line
from dlbench.document import Entry, Measured
from dlbench.document.facts import PHASES
from dlbench.text.layout import columns, shorten

SMALL = 0.01  #: lines below this share of the total are summed into one
NATIVE_HEAD = ("share", "instructions", "library", "function")
PYTHON_HEAD = (*NATIVE_HEAD[:-1], "Python function", "calls", "with its callees")
PHASES_HEAD = ("share", "instructions", "phase")
TIMES_HEAD = ("share", "time", "phase")


def title(entry: Entry) -> str:
    """ "torch -> torch, dlpack, 4 KiB"."""
    words = [f"{entry.producer} -> {entry.consumer}", entry.protocol]
    words += [entry.case] if entry.case != "f32" else []
    return ", ".join([*words, values.size(entry.bytes)])


def sentence(entry: Entry, breakdown: Breakdown) -> str:
    """The most expensive part of the exchange, in one sentence."""
    pair = f"{entry.producer} -> {entry.consumer}"
    named = [line for line in breakdown.python if line.name != NO_PYTHON]
    rest = sum(line.own for line in breakdown.python if line.name == NO_PYTHON)
    if named and named[0].own >= rest:
        line = named[0]
        share = values.percent(line.own / breakdown.total)
        return f"{share} of {pair} is {line.name}, a Python function of {line.library}"
    first = breakdown.libraries()[0]
    share = values.percent(first.own / breakdown.total)
    what = (
        "the interpreter itself"
        if first.library == code_owner.PYTHON
        else f"{first.library}'s C code"
    )
    largest = next((line for line in breakdown.native if line.library == first.library), None)
    if largest is None or first.library == code_owner.PYTHON:
        return f"{share} of {pair} is {what}"
    part = values.percent(largest.own / breakdown.total)
    return f"{share} of {pair} is {what}; its largest function, {largest.name}, is {part}"


def _number(count: float) -> str:
    return f"{count:,.0f}" if count >= 100 or count < 0 else f"{count:,.1f}"


def _times(line: Line) -> str:
    if not line.calls:
        return ""
    return f"x {line.calls:.3g}"


def _table(
    head: Sequence[str], rows: list[list[str]], right: Sequence[int], width: int
) -> list[Text]:
    lines = columns([list(head), *rows], right)
    return [
        Text(shorten(line, width), style="bold" if i == 0 else "") for i, line in enumerate(lines)
    ]


def _row(total: float, line: Line) -> list[str]:
    return [_share(line.own / total), _number(line.own), line.library]


def _share(share: float) -> str:
    return f"{share * 100:.1f} %"


def _gathered(total: float, lines: Sequence[Line]) -> tuple[list[Line], list[Line]]:
    # The line of the rest is kept, so that the table sums to the total.
    large = [one for one in lines if one.own >= SMALL * total or one.name == NO_PYTHON]
    return large, [one for one in lines if one not in large]


def _others(total: float, small: Sequence[Line], what: str) -> list[list[str]]:
    if not small:
        return []
    cost = sum(line.own for line in small)
    return [[_share(cost / total), _number(cost), "", f"{len(small)} more {what}"]]


def python_table(breakdown: Breakdown, width: int) -> list[Text]:
    large, small = _gathered(breakdown.total, breakdown.python)
    rows = [
        [
            *_row(breakdown.total, line),
            line.name,
            _times(line),
            _number(line.whole) if line.whole else "",
        ]
        for line in large
    ]
    rows += [[*row, "", ""] for row in _others(breakdown.total, small, "functions")]
    rows.append([_share(1), _number(breakdown.total), "", "total", "", ""])
    return _table(PYTHON_HEAD, rows, (0, 1, 5), width)


def native_table(breakdown: Breakdown, width: int) -> list[Text]:
    large, small = _gathered(breakdown.total, breakdown.native)
    rows = [[*_row(breakdown.total, line), line.name] for line in large]
    rows += _others(breakdown.total, small, "functions")
    rows.append([_share(1), _number(breakdown.total), "", "total"])
    return _table(NATIVE_HEAD, rows, (0, 1), width)


def library_table(breakdown: Breakdown, width: int) -> list[Text]:
    rows = [_row(breakdown.total, line) for line in breakdown.libraries()]
    rows.append([_share(1), _number(breakdown.total), "total"])
    return _table(NATIVE_HEAD[:-1], rows, (0, 1), width)


def phase_table(entry: Measured, phases: Sequence[Entry], width: int) -> list[Text]:
    """The run's times: the phases and the exchange in the same rounds, with shares if it is long
    enough; then the exchange in its own rounds."""
    reported = [
        (each.median_ns, each.phase)
        for each in sorted(phases, key=lambda each: PHASES.index(each.phase))
        if isinstance(each, Measured)
    ]
    whole = 0.0
    if entry.phases:
        exchange_ns = entry.phases.exchange_ns
        whole = exchange_ns if has_shares(entry) else 0.0
        reported.append((entry.unexplained, "unexplained"))
        reported.append((exchange_ns, "exchange, in the same rounds"))
    rows = [
        [_share(ns / whole) if whole else "", values.duration(ns), what] for ns, what in reported
    ]
    rows.append(["", values.time(entry), "exchange, in rounds of its own"])
    return _table(TIMES_HEAD, rows, (0, 1), width)


def counted_phases(breakdown: Breakdown, width: int) -> list[Text]:
    """The phases' instructions, and the rest of the exchange."""
    if not breakdown.phases:
        return (
            [Text(shorten(f"no phases: {breakdown.no_phases}", width))]
            if breakdown.no_phases
            else []
        )
    left = breakdown.total - sum(breakdown.phases.values())
    rows = [
        [_share(count / breakdown.total), _number(count), phase]
        for phase, count in [*breakdown.phases.items(), ("unexplained", left)]
    ]
    rows.append([_share(1), _number(breakdown.total), "exchange"])
    return _table(PHASES_HEAD, rows, (0, 1), width)


def lines(entry: Measured, phases: Sequence[Entry], breakdown: Breakdown, width: int) -> list[Text]:
    """The whole breakdown. `phases` are the run's cells of the same exchange."""
    shown = [Text(sentence(entry, breakdown), style="bold")]
    counted = f"{title(entry)}: {breakdown.total:,.0f} instructions an exchange"
    shown += [Text(f"{counted}, {values.time(entry)}"), Text()]
    if breakdown.python:
        shown += [*python_table(breakdown, width)]
        reported = (
            f"separating Python functions added {values.percent(breakdown.added)}, subtracted here"
        )
        shown += [Text(shorten(reported, width), style="dim"), Text()]
    if breakdown.missing:
        shown += [Text(shorten(f"no Python functions: {breakdown.missing}", width)), Text()]
    shown += [*library_table(breakdown, width), Text(), *native_table(breakdown, width)]
    if split := counted_phases(breakdown, width):
        shown += [Text(), *split]
    if phases:
        shown += [Text(), *phase_table(entry, phases, width)]
    message = (
        "counted by callgrind: instructions of the calling thread in user space, without the kernel"
    )
    return [*shown, Text(shorten(message, width), style="dim")]
