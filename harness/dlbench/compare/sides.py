"""Two sides measured now: their workers take turns on the same machine.

Both sides are environments of one run, so that each couple's base and head are measured in the same
minute, in random order, as often as there are workers. A coarse pass tells which cells are surely
the same; the couples of all others get more workers, as many as their own scatter asks for. Only
the last look, over all workers, may call a cell SLOW or FAST, so nothing is looked for twice.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dlbench import _core, options, run, rundir
from dlbench.document import RESULTS
from dlbench.environments import environment
from dlbench.environments.environment import Environment
from dlbench.errors import BadInput
from dlbench.layout import listing
from dlbench.request import Request

COARSE, MOST = 6, 30  #: workers a couple and side: of the first pass, and in all
#: Rounds scatter less than processes do; the workers are what the time is for.
PRECISION = "4%"
MORE = "more"  #: the second pass's folder in the first one's
COMPARISON = "comparison.json"


@dataclass(frozen=True)
class Side:
    """One environment, and what it can measure."""

    place: Environment
    libraries: list[_core.Library]

    @property
    def name(self) -> str:
        return self.place.name


def is_asked(params: dict[str, Any]) -> bool:
    """Is something to be measured? Raises BadInput where half of it is missing."""
    named = [params["base_env"], params["head_env"]]
    if params["aa"] and any(named):
        raise BadInput("--aa has this environment on both sides: leave out --base-env, --head-env")
    if any(named) and not all(named):
        raise BadInput("two environments: --base-env NAME=PYTHON and --head-env NAME=PYTHON")
    return bool(params["aa"] or any(named))


def measure(words: tuple[str, ...], params: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    """Measures both sides and compares them. `told` are options of `_core.compare`."""
    if bool(words) == params["matrix"]:
        raise BadInput("say what to compare: --matrix, or two libraries, as in --aa numpy torch")
    if words and len(words) != 2:
        raise BadInput(f"a couple is two libraries, not {len(words)}")
    unasked = {"precision": None, "replicas": None, "env": ()}
    asked = options.request({**unasked, **params, "count": None}, words)
    asked.precision = PRECISION
    if told["instructions"]:
        asked.count = ["instructions"]
    base, head = chosen(params, asked)
    pair = Pair(base, head, asked, quiet=params["quiet"] or params["as_json"])
    most = params["workers"] or MOST
    folder = rundir.fresh(params["out"])
    comparison = two_stages(pair, folder, most, told)
    if params["aa"]:
        comparison["aa"] = alarms(comparison)
    text = json.dumps(comparison, allow_nan=False, indent=1)
    (folder / COMPARISON).write_text(text + "\n", encoding="utf-8")
    return comparison


def chosen(params: dict[str, Any], asked: Request) -> tuple[Side, Side]:
    """Base and head."""
    if params["aa"]:
        base, head = (replace(environment.here(), name=name) for name in ("base", "head"))
    else:
        asked.env = [params["base_env"], params["head_env"]]
        _, base, head = run.find_environments(asked)
    return side(base, asked), side(head, asked)


def side(place: Environment, asked: Request) -> Side:
    """What is asked, in that environment."""
    return Side(place, run.find_libraries(asked, [place]))


@dataclass(frozen=True)
class Pair:
    """Two sides, and what is asked of both."""

    base: Side
    head: Side
    asked: Request
    quiet: bool

    def plan(self, directions: set[tuple[str, str]] | None = None) -> _core.Plan:
        """All that is asked, or of some directions only: producer and consumer."""
        axes = self.asked.axes()
        axes.environments = [self.base.name, self.head.name]
        if directions is not None:
            axes.filter = self.asked.filter_for(sorted(directions))
        return _core.make_plan([*self.base.libraries, *self.head.libraries], axes)

    def measure(self, plan: _core.Plan, folder: Path, workers: int, budget_s: float) -> str:
        """A run of so many workers a couple and side; its document."""
        folder.mkdir(exist_ok=True)
        libraries = [*self.base.libraries, *self.head.libraries]
        places = [self.base.place, self.head.place]
        context = run.context(self.asked, libraries, plan, places, sys.argv)
        wanted = self.asked.options(folder, context, resume=False)
        wanted.pythons = {place.name: place.python for place in places}
        wanted.replicas, wanted.budget_s = workers, budget_s
        summary = run.execute(plan, wanted, quiet=self.quiet)
        if summary.disk_full:
            raise BadInput(f"{summary.disk_full}; what was settled is kept in {folder}")
        signal = summary.signal or run.count_instructions(
            folder, self.asked, places, summary, quiet=self.quiet
        )
        document = _core.write_document(str(folder))
        if signal:
            run.warn(f"interrupted; what was measured is kept in {folder}")
            raise SystemExit(128 + signal)
        return document

    def compare(self, documents: list[str], told: dict[str, Any]) -> dict[str, Any]:
        """What these documents, put together, tell of the two sides."""
        return _core.compare(
            base=documents,
            head=documents,
            base_environment=self.base.name,
            head_environment=self.head.name,
            **told,
        )


def two_stages(pair: Pair, folder: Path, most: int, told: dict[str, Any]) -> dict[str, Any]:
    """The coarse pass, then more workers where it left cells open; the comparison of all."""
    plan = pair.plan()
    run.require_cells(plan)
    if folder.parent == RESULTS:
        rundir.link_latest(folder)
    coarse = 1 if told["instructions"] else min(COARSE, most)
    budget_s = _core.parse_seconds(pair.asked.budget) if pair.asked.budget else 0.0
    documents = [pair.measure(plan, folder, coarse, budget_s / 2)]
    comparison = pair.compare(documents, told)
    require_numbers(comparison, folder)
    directions = open_directions(comparison)
    needed = 0 if told["instructions"] else min(workers_needed(comparison), most) - coarse
    if directions and needed > 0:
        more = pair.plan(directions)
        documents.append(pair.measure(more, folder / MORE, needed, budget_s / 2))
        comparison = pair.compare(documents, told)
    return comparison


def require_numbers(comparison: dict[str, Any], folder: Path) -> None:
    """Raises BadInput where neither side has one: there is nothing that could be the same."""
    cells = comparison["cells"]
    if all(cell[side] is None for cell in cells for side in ("base", "head")):
        outcomes = Counter(str(cell["head_outcome"]) for cell in cells)
        why = listing(f"{count} {outcome}" for outcome, count in outcomes.most_common())
        raise BadInput(f"nothing could be measured: {why}; dlbench show {folder} has the reasons")


def open_cells(comparison: dict[str, Any]) -> list[dict[str, Any]]:
    """Those with numbers on both sides that are not surely the same."""
    return [cell for cell in comparison["cells"] if cell["verdict"] not in (None, "SAME")]


def open_directions(comparison: dict[str, Any]) -> set[tuple[str, str]]:
    """Producer and consumer of the cells that are open."""
    return {(cell["producer"], cell["consumer"]) for cell in open_cells(comparison)}


def workers_needed(comparison: dict[str, Any]) -> int:
    """Workers a side that would see a change as large as the threshold in every open cell."""
    measured = sum(cell["verdict"] is not None for cell in comparison["cells"])
    level = comparison["false_alarms"] / max(measured, 1)
    threshold = comparison["threshold"]
    return max(
        (
            _core.processes_to_see(threshold, cell["spread"] or 0.0, level)
            for cell in open_cells(comparison)
        ),
        default=0,
    )


def alarms(comparison: dict[str, Any]) -> dict[str, int]:
    """Of two sides that are one: cells called changed after correction, and whose own 95 % interval
    misses no change; of the latter one in twenty are so by chance."""
    measured = [cell for cell in comparison["cells"] if cell["ratio"] is not None]
    return {
        "cells": len(measured),
        "alarms": sum(cell["verdict"] in ("SLOW", "FAST") for cell in measured),
        "outside_95": sum(not cell["lo"] <= 1 <= cell["hi"] for cell in measured),
    }
