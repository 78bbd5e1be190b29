"""`--profile`: each exchange a few times inside its ranges, and no times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dlbench import afterwards, asking, exchanges
from dlbench import document as documents
from dlbench.asking import AskFailed, Worker
from dlbench.discover import Catalogue
from dlbench.values import Entry

TIMES = 5  #: exchanges, and as many taken apart: enough to tell the usual one from a first


@dataclass
class Cell:
    """What became of one exchange: its outcome and ranges, or the reason why it has none."""

    name: str
    exchange: Entry
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
    plan: Sequence[Sequence[Entry]],
    found: Mapping[str, Catalogue],
    timeout_s: float,
    *,
    quiet: bool,
) -> Profile:
    """One worker a couple, one after another. A signal ends it with what is there."""
    made = Profile()

    def doing(couple: Sequence[Entry]) -> str:
        return f"profiling {afterwards.title(couple)}"

    def look(couple: Sequence[Entry]) -> Generator[Cell, None, None]:
        return _couple(couple, found[couple[0]["environment"]], timeout_s, made)

    made.signal = afterwards.go_through(plan, doing, look, made.cells.append, quiet=quiet)
    return made


def _couple(
    couple: Sequence[Entry], found: Catalogue, timeout_s: float, made: Profile
) -> Generator[Cell, None, None]:
    title = afterwards.title(couple)

    def load(worker: Worker) -> None:
        made.listening |= worker.ask({"do": "trace"})
        exchanges.load(worker, couple[0], found)

    def end(worker: Worker) -> None:
        try:
            worker.finish()
        except AskFailed as failure:
            made.warnings.append(f"{title}: {failure}")

    return exchanges.one_by_one(
        couple,
        start=asking.starting(found.environment, timeout_s, "--finish"),
        load=load,
        ask=lambda worker, exchange: _exchange(worker, exchange, title, made),
        failed=_failed,
        end=end,
        scratch="profile",
    )


def _failed(exchange: Entry, why: AskFailed) -> Cell:
    return Cell(documents.cell_name(exchange), exchange, why.outcome, str(why), why.exception)


def _exchange(worker: Worker, exchange: Entry, title: str, made: Profile) -> Cell:
    asked = {"do": "profile", "times": TIMES, "process": f"dlbench: {title}"}
    told, seen = exchanges.ask(worker, exchange, asked)
    events = seen["trace"]["traceEvents"]
    made.lost += seen["trace"]["otherData"]["lost"]
    made.events += events
    name = documents.cell_name(exchange)
    own = [e for e in events if e["ph"] == "X" and e["args"].get("cell") == name]
    cell = Cell(name, exchange, str(told["outcome"]), whole=str(seen["whole"]))
    cell.ranges = _ranges(own)
    return cell


def _ranges(events: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each kind once, in the order in which they begin, with how often it was there."""
    keys = [(e["name"], e["cat"], e["args"]["bytes"]) for e in events]
    return [
        {"name": name, "category": category, "bytes": size, "count": count}
        for (name, category, size), count in Counter(keys).items()
    ]
