"""`--profile`: each exchange a few times inside its ranges, and no times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dlbench import _core
from dlbench.document import EXCHANGE, Document, Entry
from dlbench.libraries.discover import Catalogue
from dlbench.passes.walk import Pass, pair_of, pair_title, walk
from dlbench.supervisor import RequestFailed, Worker, worker_command
from dlbench.text.grouping import grouped

TIMES = 5  #: exchanges, and as many split: distinguishes later ones from the first


@dataclass
class Cell:
    """The result of one exchange: its outcome and ranges, or the reason why it has none."""

    name: str
    exchange: Entry
    outcome: str
    reason: str = ""
    exception: str = ""
    whole: str = ""  #: why it was not split
    ranges: list[dict[str, Any]] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """The cell's item of profile.json."""
        json: dict[str, Any] = self.exchange.to_json(without=("clock",))
        json["outcome"] = self.outcome
        for key in ("reason", "exception", "whole"):
            if getattr(self, key):
                json[key] = getattr(self, key)
        return json | ({"ranges": self.ranges} if self.ranges else {})


@dataclass
class Profile:
    """A whole profile. `listening` are the sinks that the workers found."""

    cells: list[Cell] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    lost: int = 0
    listening: dict[str, str] = field(default_factory=dict)
    signal: int = 0
    warnings: list[str] = field(default_factory=list)


class RecordRanges(Pass[Entry, Cell]):
    """The pass over the exchanges of a plan; `made` collects the results."""

    name = "profile"

    def __init__(self, folder: Path, found: Mapping[str, Catalogue], timeout_s: float) -> None:
        super().__init__(folder, found, timeout_s)
        self.made = Profile()

    def pending(self, document: Document) -> list[list[Entry]]:
        return []  # a profile cannot be resumed

    def entry(self, item: Entry) -> Entry:
        return item

    def title(self, item: Entry) -> str:
        return f"profiling {pair_title(item)}"

    def start(self, item: Entry, folder: Path) -> Worker:
        place = self.catalogue(item).environment
        return Worker(worker_command(place, "--finish"), self.timeout_s)

    def load(self, worker: Worker, item: Entry) -> None:
        self.made.listening |= worker.send_request({"do": "trace"})
        super().load(worker, item)

    def send_request(self, worker: Worker, item: Entry) -> Cell:
        process = f"dlbench: {pair_title(item)}"
        request = {"do": "profile", "times": TIMES, "process": process}
        prepared, answer = worker.request_prepared(item, request)
        events = answer["trace"]["traceEvents"]
        self.made.lost += answer["trace"]["otherData"]["lost"]
        self.made.events += events
        name = item.name
        own = [e for e in events if e["ph"] == "X" and e["args"].get("cell") == name]
        cell = Cell(name, item, str(prepared["outcome"]), whole=str(answer["whole"]))
        cell.ranges = _ranges(own)
        return cell

    def fail(self, item: Entry, failure: RequestFailed) -> Cell:
        name = item.name
        return Cell(name, item, failure.outcome, str(failure), failure.exception)

    def record(self, result: Cell) -> None:
        self.made.cells.append(result)

    def finish(self, worker: Worker, item: Entry) -> None:
        try:
            worker.finish()
        except RequestFailed as failure:
            self.made.warnings.append(f"{pair_title(item)}: {failure}")


def profile(
    cells: Iterable[_core.Cell],
    found: Mapping[str, Catalogue],
    folder: Path,
    timeout_s: float,
    *,
    quiet: bool,
) -> Profile:
    """Starts a worker for each pair, one after another. After a signal the result is partial."""
    ranges = RecordRanges(folder, found, timeout_s)
    ranges.made.signal = walk(ranges, _exchanges(cells), quiet=quiet)
    return ranges.made


def _exchanges(cells: Iterable[_core.Cell]) -> list[list[Entry]]:
    """Each exchange once, for any phases and clocks, as an entry without a result; by pair, in the
    order of the plan.
    """
    exchanges: dict[str, Entry] = {}
    for cell in cells:
        name = _exchange_name(cell)
        axes = {axis: getattr(cell, axis) for axis in EXCHANGE}
        exchanges.setdefault(name, Entry({**axes, "name": name, "clock": "call"}))
    return list(grouped(exchanges.values(), pair_of).values())


def _exchange_name(cell: _core.Cell) -> str:
    """The name of a cell's whole exchange, by the clock `call`."""
    _, _, axes = cell.name.partition("/")
    return "exchange/" + axes.replace(f"/clock:{cell.clock}", "")


def _ranges(events: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each kind of range once, in order of its first begin, with its count."""
    keys = [(e["name"], e["cat"], e["args"]["bytes"]) for e in events]
    return [
        {"name": name, "category": category, "bytes": size, "count": count}
        for (name, category, size), count in Counter(keys).items()
    ]
