"""The tables of calls with several arrays: one for each producer, a line for each binding."""

from __future__ import annotations

from rich.text import Text

from dlbench import values
from dlbench.analysis import calls
from dlbench.document import Document, NotMeasured
from dlbench.text.layout import fitting, fold, shorten

LEFT = {"binding", calls.COPIED, calls.COUNTED}
SPARE = (calls.COUNTED, "f(20)", calls.BEND)


def tables(document: Document, width: int) -> list[Text]:
    """Empty without such calls."""
    lines: list[Text] = []
    for key, found in calls.of_document(document):
        lines += [Text()] if lines else []
        lines.append(Text(shorten(calls.title(key), width), style="bold"))
        lines += [Text(shorten(f" {line}", width)) for line in _table(found, width)]
    return lines


def _table(found: list[calls.Calls], width: int) -> list[str]:
    rows = calls.rows(found)
    heads = tuple(rows[0]) if rows else ()
    lines = fitting(heads, rows, width - 1, {*heads} - LEFT, SPARE)[1] if rows else []
    without = [each for each in found if not each.has_numbers]
    return lines + fold([_without(each) for each in without], width - 1, gap="   ", indent="")


def _without(each: calls.Calls) -> str:
    """The binding, and why it has no number with the fewest arrays that are no special case."""
    numbers = sorted(each.by_arrays, key=lambda number: (number == 0, number))
    entry = each.by_arrays[numbers[0]]
    reason = values.reason(entry) if isinstance(entry, NotMeasured) else ""
    return f"{each.binding}: {entry.outcome}" + (f" ({reason})" if reason else "")
