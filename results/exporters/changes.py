"""The changes between two sides, as part of a step summary."""

from __future__ import annotations

from collections.abc import Iterable

from dlbench import values
from dlbench.compare import gate
from dlbench.document import ComparedCell, Comparison
from dlbench.terminal.changes import OPEN, amount, named
from dlbench.text.escaping import markdown

from .tables import table

MOST_ROWS = 200
INTERVAL = "95 % interval"
HEAD = ("", "cell", "ratio", INTERVAL, "base", "head", "outcome")


def section(comparison: Comparison) -> str:
    """Counts, the changed cells, and the undecided cells folded."""
    within = values.percent(comparison.threshold)
    what = "" if comparison.is_timed else f", in {comparison.metric}"
    text = f"\n### What changed{what}: {comparison.counted() or 'nothing'}\n\n"
    text += f"A cell is SAME if its change is surely below {within}.\n\n"
    cells = comparison.cells
    changed = [cell for cell in cells if _is_changed(cell)]
    if changed:
        text += _table(sorted(changed, key=_rank), comparison.metric)
    unsure = [cell for cell in cells if cell.verdict in OPEN and not _is_changed(cell)]
    if unsure:
        summary = f"{len(unsure)} cells are inconclusive because of noise"
        body = _table(unsure, comparison.metric)
        text += f"\n<details><summary>{summary}</summary>\n\n{body}\n</details>\n"
    undecided = gate.inconclusive(comparison, "--replicas")
    below = [*([undecided] if undecided else []), *(one.text for one in comparison.warnings)]
    return text + "".join(f"\n{markdown(line)}\n" for line in below)


def _is_changed(cell: ComparedCell) -> bool:
    verdict = cell.verdict in ("SLOW", "FAST")
    return verdict or bool(cell.outcome_change) or cell.presence != "both"


def _rank(cell: ComparedCell) -> tuple[int, str]:
    """The most important changes first."""
    if cell.outcome_change == "worse" or cell.presence == "lost":
        return 0, cell.name
    return 1 if cell.verdict == "SLOW" else 2, cell.name


def _table(cells: Iterable[ComparedCell], metric: str) -> str:
    rows = [dict(zip(HEAD, _row(cell, metric), strict=True)) for cell in cells]
    # A count has no interval.
    head = [one for one in HEAD if metric == "time" or one != INTERVAL]
    shown = ([row[one] for one in head] for row in rows[:MOST_ROWS])
    text = table(head, shown, range(2, len(head) - 1))
    return text + (f"\nand {len(rows) - MOST_ROWS} more\n" if len(rows) > MOST_ROWS else "")


def _row(cell: ComparedCell, metric: str) -> list[str]:
    verdict = cell.verdict or "" if cell.presence == "both" else cell.presence
    ratio = "" if cell.ratio is None else f"{cell.ratio:.3f}"
    interval = "" if cell.interval is None else "{:.3f} .. {:.3f}".format(*cell.interval)
    before, after = cell.base_outcome, cell.head_outcome
    outcome = after or "" if before == after else f"{before or 'none'} -> {after or 'none'}"
    sides = [amount(cell.base, metric), amount(cell.head, metric)]
    return [verdict, " ".join(named(cell)), ratio, interval, *sides, outcome]
