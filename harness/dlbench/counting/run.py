"""`--count instructions`: counts what a run has measured, a process of valgrind's a couple."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dlbench import _core, afterwards, values
from dlbench import document as documents
from dlbench.counting.exchange import AXES, Counted, load
from dlbench.counting.worker import CountFailed, Worker
from dlbench.discover import Catalogue
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
        and "instructions" not in entry
        and not any(warning.startswith(WARNING) for warning in entry["warnings"])
    ]


def couples(entries: list[Entry]) -> list[list[Entry]]:
    """The entries by environment and their two libraries."""
    groups: dict[tuple[str, ...], list[Entry]] = {}
    for entry in entries:
        key = (entry["environment"], *sorted({entry["producer"], entry["consumer"]}))
        groups.setdefault(key, []).append(entry)
    return [groups[key] for key in sorted(groups)]


def exchanges(entries: Sequence[Entry]) -> list[list[Entry]]:
    """The entries of a couple by exchange: itself and its phases."""
    groups: dict[tuple[Any, ...], list[Entry]] = {}
    for entry in entries:
        groups.setdefault(tuple(entry.get(axis) for axis in AXES), []).append(entry)
    return list(groups.values())


def count_couple(entries: Sequence[Entry], found: Catalogue, timeout_s: float) -> Iterator[Result]:
    """One result a cell. What takes a worker along costs its own cell: a new one goes on."""
    left = exchanges(entries)
    while left:
        loaded, told = False, ""
        with tempfile.TemporaryDirectory(prefix="dlbench-count-") as folder:
            try:
                with Worker(Path(folder), found.environment, timeout_s) as worker:
                    load(worker, (left[0][0]["producer"], left[0][0]["consumer"]), found)
                    loaded = True
                    while left:
                        yield from _count(worker, left[0])
                        left.pop(0)
            except CountFailed as failure:
                told = str(failure)
        # A couple that cannot even be loaded is not tried again for each of its cells.
        lost = len(left) if not loaded else min(len(left), 1)
        for _ in range(lost):
            yield from _failed(left.pop(0), told)


def _failed(group: list[Entry], why: str) -> list[Result]:
    return [Result(documents.cell_name(entry), None, why) for entry in group]


def _count(worker: Worker, group: list[Entry]) -> list[Result]:
    """Of one exchange. Raises CountFailed where the worker is lost."""
    whole = [entry for entry in group if entry["phase"] == "exchange"]
    phases = [entry for entry in group if entry["phase"] != "exchange"]
    try:
        counted = Counted(worker, group[0])
        results = [Result(documents.cell_name(entry), counted.count().total) for entry in whole]
    except CountFailed as failure:
        if not worker.is_alive():
            raise
        return _failed(group, str(failure))
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
        return _failed(group, str(failure))
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
        names = sorted({couple[0]["producer"], couple[0]["consumer"]})
        return f"counting {' and '.join(names)}{afterwards.where(couple[0]['environment'])}"

    def look(couple: Sequence[Entry]) -> Iterator[Result]:
        return count_couple(couple, found[couple[0]["environment"]], step_timeout_s * SLOWER)

    def keep(result: Result) -> None:
        _core.append_counts(str(folder), [(result.cell, result.instructions, result.failure)])

    return afterwards.go_through(couples(to_count(document)), doing, look, keep, quiet=quiet)
