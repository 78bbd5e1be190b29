"""`--profile`: each exchange a few times inside its ranges, and no times."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dlbench import asking, debug, progress
from dlbench.asking import AskFailed, Stopped, Worker, stoppable
from dlbench.counting.exchange import load
from dlbench.discover import Catalogue
from dlbench.profiling.couples import Couple

TIMES = 5  #: exchanges, and as many taken apart: enough to tell the usual one from a first


@dataclass
class Cell:
    """What became of one exchange: its outcome and ranges, or the reason why it has none."""

    name: str
    exchange: dict[str, Any]
    outcome: str
    reason: str = ""
    exception: str = ""
    whole: str = ""  #: why it was not taken apart
    ranges: list[dict[str, Any]] = field(default_factory=list)

    def told(self) -> dict[str, Any]:
        """As in profile.json."""
        told = {key: value for key, value in self.exchange.items() if key != "clock"}
        told["outcome"] = self.outcome
        for key in ("reason", "exception", "whole"):
            if getattr(self, key):
                told[key] = getattr(self, key)
        return told | ({"ranges": self.ranges} if self.ranges else {})


@dataclass
class Profile:
    """All that a profile has. `listening` are the sinks as the workers found them."""

    cells: list[Cell] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    lost: int = 0
    listening: dict[str, str] = field(default_factory=dict)
    signal: int = 0
    warnings: list[str] = field(default_factory=list)


def profile(
    plan: Sequence[Couple], found: Mapping[str, Catalogue], timeout_s: float, *, quiet: bool
) -> Profile:
    """One worker a couple, one after another. A signal ends it with what is there."""
    made = Profile()
    total = sum(len(couple.exchanges) for couple in plan)
    try:
        with stoppable(), progress.observer(sys.stderr, quiet) as observer:
            for couple in plan:
                for cell in _couple(couple, found[couple.environment], timeout_s, made):
                    made.cells.append(cell)
                    observer.on_progress(len(made.cells), total, f"profiling {couple.title}", -1)
    except Stopped as stopped:
        made.signal = stopped.number
    return made


def _couple(couple: Couple, found: Catalogue, timeout_s: float, made: Profile) -> Iterator[Cell]:
    """What takes a worker along costs its own exchange: a new one goes on with the rest."""
    left = list(couple.exchanges)
    while left:
        loaded = False
        with tempfile.TemporaryDirectory(prefix="dlbench-profile-") as folder:
            try:
                with Worker(Path(folder), lambda fd: _command(found, fd), timeout_s) as worker:
                    made.listening |= worker.ask({"do": "trace"})
                    load(worker, couple.libraries, found)
                    loaded = True
                    while left:
                        yield _exchange(worker, left[0], couple, made)
                        left.pop(0)
                    worker.finish()
            except AskFailed as failure:
                if not left:
                    made.warnings.append(f"{couple.title}: {failure}")
                # A couple that cannot even be loaded is not tried again for each of its exchanges.
                for exchange in left[: 1 if loaded else None]:
                    yield _failed(exchange, failure, "crashed" if loaded else "import-failed")
                left = left[1:] if loaded else []


def _command(found: Catalogue, fd: int) -> list[str]:
    return [*asking.command(found.environment, fd), "--finish"]


def _failed(exchange: dict[str, Any], failure: AskFailed, otherwise: str) -> Cell:
    outcome = failure.outcome or otherwise
    return Cell(exchange["name"], exchange, outcome, str(failure), failure.exception)


def _exchange(worker: Worker, exchange: dict[str, Any], couple: Couple, made: Profile) -> Cell:
    try:
        told = worker.ask({**debug.preparing(exchange), "round_ns": 1})  # nobody times here
        asked = {"do": "profile", "id": 0, "times": TIMES, "process": f"dlbench: {couple.title}"}
        seen = worker.ask(asked)
        worker.ask({"do": "drop", "id": 0})
    except AskFailed as failure:
        if not worker.is_alive():
            raise
        return _failed(exchange, failure, "refused")
    events = seen["trace"]["traceEvents"]
    made.lost += seen["trace"]["otherData"]["lost"]
    made.events += events
    own = [e for e in events if e["ph"] == "X" and e["args"].get("cell") == exchange["name"]]
    cell = Cell(exchange["name"], exchange, str(told["outcome"]), whole=str(seen["whole"]))
    cell.ranges = _ranges(own)
    return cell


def _ranges(events: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each kind once, in the order in which they begin, with how often it was there."""
    keys = [(e["name"], e["cat"], e["args"]["bytes"]) for e in events]
    return [
        {"name": name, "category": category, "bytes": size, "count": count}
        for (name, category, size), count in Counter(keys).items()
    ]
