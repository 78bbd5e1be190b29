"""Number of workers of the two sides: a coarse pass, then more for undecided cells. Each interim
analysis decides some cells: SAME, or SLOW and FAST at its share of the false-alarm probability. The
pairs of the others get more workers. `stats/stages.hpp` has the rule and why it holds.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

from dlbench import _core, writing
from dlbench.compare.sides import Pair
from dlbench.document import ComparedCell, Comparison
from dlbench.document.comparison import OPEN
from dlbench.errors import BadInput
from dlbench.running.comparing import COMPARISON
from dlbench.text.escaping import dlbench_command
from dlbench.text.layout import listing


def measure(pair: Pair, folder: Path) -> Comparison:
    """Measures both sides, or resumes them, and writes the comparison to the folder."""
    comparison = in_stages(pair, folder)
    if not pair.comparison.env:
        comparison = Comparison({**comparison.to_json(), "aa": alarms(comparison)})
    text = json.dumps(comparison.to_json(), allow_nan=False, indent=1)
    writing.write_or_refuse(folder / COMPARISON, lambda out: out.write(f"{text}\n".encode()))
    return comparison


def in_stages(pair: Pair, folder: Path) -> Comparison:
    """Runs the interim analyses; returns the comparison of all workers."""
    plan = pair.plan()
    most, counts = pair.comparison.workers, pair.comparison.instructions
    have = 1 if counts else min(_core.coarse_workers, most)
    budget_s = _core.parse_seconds(pair.request.budget) if pair.request.budget else 0.0
    document, used_s = pair.measure(plan, folder, have, budget_s / 2, root=folder)
    documents = [document]
    comparison = pair.compare(documents, alarms_of(0, have, most))
    require_numbers(comparison, folder)
    for analysis in range(1, 1 if counts else _core.max_analyses):
        wanted = workers_wanted(comparison, have, most)
        left = budget_s - used_s
        if wanted <= have or (budget_s and left <= 0):
            break
        further = pair.plan(open_directions(comparison))
        into = folder / (f"more-{analysis}" if analysis > 1 else "more")
        budget = left if budget_s else 0.0
        document, more_s = pair.measure(further, into, wanted - have, budget, root=folder)
        documents.append(document)
        used_s += more_s
        have = wanted
        comparison = pair.compare(documents, alarms_of(analysis, have, most))
    return comparison


def alarms_of(analysis: int, workers: int, most: int) -> float:
    """The false-alarm probability of an interim analysis, by its number from 0."""
    part = _core.part_of_alarms(analysis=analysis, workers=workers, most=most)
    return _core.false_alarms * part


def require_numbers(comparison: Comparison, folder: Path) -> None:
    """Raises BadInput if neither side has a number: nothing can be compared."""
    cells = comparison.cells
    if all(cell.base is None and cell.head is None for cell in cells):
        outcomes = Counter(str(cell.head_outcome) for cell in cells)
        why = listing(f"{count} {outcome}" for outcome, count in outcomes.most_common())
        command = dlbench_command("show", folder)
        raise BadInput(f"nothing could be measured: {why}; {command} prints the reasons")


def open_cells(comparison: Comparison) -> list[ComparedCell]:
    """The cells with numbers on both sides that are undecided."""
    return [cell for cell in comparison.cells if cell.verdict in OPEN]


def open_directions(comparison: Comparison) -> set[tuple[str, str]]:
    """Producer and consumer of the cells that are open."""
    return {(cell.producer, cell.consumer) for cell in open_cells(comparison)}


def workers_wanted(comparison: Comparison, have: int, most: int) -> int:
    """Workers a side that would detect a change as large as the threshold in every undecided cell;
    `have` if there are enough."""
    measured = sum(cell.verdict is not None for cell in comparison.cells)
    return max(
        (
            _core.next_processes(
                lo=low,
                hi=high,
                first=cell.base_workers,
                second=cell.head_workers,
                minimum_detectable_change=detectable(cell),
                most=most,
                threshold=comparison.threshold,
                level=comparison.false_alarms / max(measured, 1),
            )
            for cell in open_cells(comparison)
            for low, high in (cell.interval or (1.0, 1.0),)
        ),
        default=have,
    )


def detectable(cell: ComparedCell) -> float:
    """The minimum detectable change; infinite if unknown."""
    change = cell.minimum_detectable_change
    return math.inf if change is None else change


def alarms(comparison: Comparison) -> dict[str, int]:
    """For equal sides: cells reported as changed after correction, and cells whose own 95 %
    interval excludes no change, which one in twenty does by chance."""
    measured = [cell for cell in comparison.cells if cell.ratio is not None]
    intervals = [cell.interval for cell in measured if cell.interval is not None]
    return {
        "cells": len(measured),
        "alarms": sum(cell.verdict in ("SLOW", "FAST") for cell in measured),
        "outside_95": sum(not low <= 1 <= high for low, high in intervals),
    }
