"""The changes between two sides, as part of a step summary."""

from __future__ import annotations

from collections.abc import Sequence

from dlbench import values
from dlbench.analysis import inconclusive
from dlbench.analysis.compared import amount, named
from dlbench.document import ComparedCell, Comparison
from dlbench.document.comparison import OPEN
from dlbench.text.escaping import markdown
from dlbench.text.layout import count

from .tables import table

MOST_ROWS = 200
INTERVAL = "95 % interval"
HEAD = ("", "cell", "outcome", "speed", "ratio", INTERVAL, "base", "head")


def section(comparison: Comparison) -> str:
    """Counts, the cells that are worse, the other changes, and the undecided cells folded."""
    within = values.percent(comparison.threshold)
    what = "" if comparison.is_timed else f", in {comparison.metric}"
    text = f"### What changed{what}: {comparison.counted() or 'nothing'}\n\n"
    cells = sorted(comparison.cells, key=lambda cell: cell.rank)
    if worse := [cell for cell in cells if cell.result == "worse"]:
        # GitHub and GitLab draw this in red.
        text += f"> [!CAUTION]\n> {count(len(worse), 'cell')} with a worse outcome\n\n"
        text += _table(worse, comparison.metric) + "\n"
    text += f"SAME: the change in {comparison.metric} is surely below {within}.\n\n"
    changed = [cell for cell in cells if cell.is_changed and cell.result != "worse"]
    if changed:
        text += _table(changed, comparison.metric)
    unsure = [cell for cell in cells if cell.result in OPEN]
    if unsure:
        what = " and ".join(word for word in OPEN if word in {cell.result for cell in unsure})
        summary = f"{count(len(unsure), 'cell')} {what}, with the same outcome"
        body = _table(unsure, comparison.metric)
        text += f"\n<details><summary>{summary}</summary>\n\n{body}\n</details>\n"
    undecided = inconclusive.in_words(comparison, "--replicas")
    below = [*([undecided] if undecided else []), *(one.text for one in comparison.warnings)]
    return text + "".join(f"\n{markdown(line)}\n" for line in below) + "\n"


def _table(cells: Sequence[ComparedCell], metric: str) -> str:
    rows = [dict(zip(HEAD, _row(cell, metric), strict=True)) for cell in cells[:MOST_ROWS]]
    # A count has no interval.
    head = [one for one in HEAD if metric == "time" or one != INTERVAL]
    shown = ([row[one] for one in head] for row in rows)
    text = table(head, shown, range(HEAD.index("ratio"), len(head)))
    return text + (f"\nand {len(cells) - MOST_ROWS} more\n" if len(cells) > MOST_ROWS else "")


def _row(cell: ComparedCell, metric: str) -> list[str]:
    ratio = "" if cell.ratio is None else f"{cell.ratio:.3f}"
    interval = "" if cell.interval is None else "{:.3f} .. {:.3f}".format(*cell.interval)
    sides = [amount(cell.base, metric), amount(cell.head, metric)]
    place = " ".join(named(cell))
    return [cell.result, place, cell.outcomes, cell.speed, ratio, interval, *sides]
