"""The tables of calls with several arrays: one for each producer, a line for each binding."""

from __future__ import annotations

import math

from rich.text import Text

from dlbench import values
from dlbench.analysis import calls
from dlbench.document import Document, NotMeasured
from dlbench.text.layout import fitting, fold, shorten

NUMBERS = (0, 1, 8, 20)  #: of arrays, each a column where it was measured
SLOPE, BEND, COPIED, COUNTED = "an array", "bends at", "copies", "instructions"


def tables(document: Document, width: int) -> list[Text]:
    """Empty without such calls."""
    lines: list[Text] = []
    for (producer, *place, size), found in calls.of_document(document):
        named = [word for word in place if word not in ("cpu", "f32", "default", "")]
        title = ["calls with arrays of " + producer, values.size(int(size)), *named]
        lines += [Text()] if lines else []
        lines.append(Text(shorten("   ".join(title), width), style="bold"))
        lines += [Text(shorten(f" {line}", width)) for line in _table(found, width)]
    return lines


def _table(found: list[calls.Calls], width: int) -> list[str]:
    shown = sorted((each for each in found if each.has_numbers), key=_slope)
    heads = ("binding", *map(_head, NUMBERS), SLOPE, BEND, COPIED, COUNTED)
    lines: list[str] = []
    if shown:
        right = {*map(_head, NUMBERS), SLOPE, BEND}
        spare = (COUNTED, _head(20), BEND)
        lines = fitting(heads, [_row(each) for each in shown], width - 1, right, spare)[1]
    without = [each for each in found if not each.has_numbers]
    return lines + fold([_without(each) for each in without], width - 1, gap="   ", indent="")


def _head(number: int) -> str:
    return f"f({number})"


def _slope(each: calls.Calls) -> float:
    return each.line.slope if each.line else math.inf


def _row(each: calls.Calls) -> dict[str, str]:
    line, counted = each.line, each.instructions
    times = {
        _head(number): values.time(each.measured[number]) if number in each.measured else ""
        for number in NUMBERS
    }
    slope = ""
    if line:
        interval = values.number(line.half_width, line.half_width)
        slope = f"{values.number(line.slope, line.half_width)} +-{interval} ns"
    return {
        "binding": each.binding,
        **times,
        SLOPE: slope,
        BEND: f"{each.bend} arrays" if each.bend else "",
        COPIED: f"argument {each.copied}" if each.copied else "",
        COUNTED: f"{counted.base:,.0f} + {counted.slope:,.0f} an array" if counted else "",
    }


def _without(each: calls.Calls) -> str:
    """The binding, and why it has no number with the fewest arrays that are no special case."""
    numbers = sorted(each.by_arrays, key=lambda number: (number == 0, number))
    entry = each.by_arrays[numbers[0]]
    reason = values.reason(entry) if isinstance(entry, NotMeasured) else ""
    return f"{each.binding}: {entry.outcome}" + (f" ({reason})" if reason else "")
