"""`--count instructions`: counts what a run has measured, a process of valgrind's a couple."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dlbench import _core, afterwards, exchanges, values
from dlbench import document as documents
from dlbench.asking import AskFailed
from dlbench.counting.exchange import Counted
from dlbench.counting.worker import CountFailed, Worker
from dlbench.discover import Catalogue
from dlbench.grouping import grouped
from dlbench.values import Entry

SLOWER = 10  #: times as long as without valgrind may one step take
TOO_SHORT = "no more than what tells the phases apart"
WARNING = "instructions: "  #: begins the warning of a cell that could not be counted


@dataclass(frozen=True)
class Result:
    """Of one cell: instructions of one exchange or phase, or why there are none."""

    cell: str
    instructions: float | None
    failure: str = ""


def to_count(document: dict[str, Any]) -> list[Entry]:
    """The measured exchanges and phases that were not counted yet, in the clock `call`."""
    return [
        entry
        for entry in documents.entries(document)
        if values.is_measured(entry)
        and entry.get("clock", "call") == "call"
        and not afterwards.is_told(entry, "instructions", WARNING)
    ]


def count_couple(
    entries: Sequence[Entry], found: Catalogue, timeout_s: float
) -> Generator[Result, None, None]:
    """One result a cell."""
    # An exchange and its phases are counted together.
    together = grouped(entries, lambda entry: tuple(entry[axis] for axis in documents.EXCHANGE))
    counted = exchanges.one_by_one(
        together.values(),
        start=lambda folder: Worker(folder, found.environment, timeout_s),
        load=lambda worker: exchanges.load(worker, entries[0], found),
        ask=_count,
        failed=_failed,
        scratch="count",
    )
    with closing(counted):
        for results in counted:
            yield from results


def _failed(group: list[Entry], why: AskFailed) -> list[Result]:
    return [Result(documents.cell_name(entry), None, str(why)) for entry in group]


def _count(worker: Worker, group: list[Entry]) -> list[Result]:
    """Of one exchange. Raises CountFailed."""
    whole = [entry for entry in group if entry["phase"] == "exchange"]
    phases = [entry for entry in group if entry["phase"] != "exchange"]
    counted = Counted(worker, group[0])
    results = [Result(documents.cell_name(entry), counted.count().total) for entry in whole]
    if phases:
        results += _count_phases(worker, counted, phases)
    counted.drop()
    return results


def _count_phases(worker: Worker, counted: Counted, group: list[Entry]) -> list[Result]:
    try:
        found = counted.phases()
    except CountFailed as failure:
        if not worker.is_alive():
            raise
        return _failed(group, failure)
    results = []
    for entry in group:
        count = found.get(entry["phase"], 0.0)
        name = documents.cell_name(entry)
        results.append(Result(name, count) if count > 0 else Result(name, None, TOO_SHORT))
    return results


def count_run(
    folder: Path, found: Mapping[str, Catalogue], step_timeout_s: float, *, quiet: bool
) -> int:
    """Counts what the run in `folder` measured and writes it into its journal. `found` are the
    adapters by environment. Returns as `afterwards.go_through`.
    """
    document = documents.load(Path(_core.write_document(str(folder))))

    def doing(couple: Sequence[Entry]) -> str:
        return f"counting {afterwards.title(couple)}"

    def look(couple: Sequence[Entry]) -> Generator[Result, None, None]:
        return count_couple(couple, found[couple[0]["environment"]], step_timeout_s * SLOWER)

    def keep(result: Result) -> None:
        _core.append_counts(str(folder), [(result.cell, result.instructions, result.failure)])

    couples = afterwards.couples(to_count(document))
    return afterwards.go_through(couples, doing, look, keep, quiet=quiet)
