"""`--trace-api`: what an exchange asks of the CUDA driver, counted in a process of its own."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dlbench import _core, afterwards, asking, exchanges, values
from dlbench import document as documents
from dlbench.asking import AskFailed, Worker
from dlbench.discover import Catalogue
from dlbench.values import Entry

WARNING = "API calls: "  #: begins the warning of a cell whose calls could not be counted


@dataclass(frozen=True)
class Result:
    """Of one cell: calls by kind, and by phase where it was taken apart; or why there are none."""

    cell: str
    calls: dict[str, int] | None = None
    phases: dict[str, dict[str, int]] = field(default_factory=dict)
    failure: str = ""


def to_trace(document: dict[str, Any]) -> list[Entry]:
    """The measured exchanges whose calls were not counted yet, in the clock `call`."""
    return [
        entry
        for entry in documents.entries(document)
        if values.is_measured(entry)
        and entry["phase"] == "exchange"
        and entry.get("clock", "call") == "call"
        and not afterwards.is_told(entry, "api_calls", WARNING)
    ]


def trace_couple(
    entries: Sequence[Entry], found: Catalogue, timeout_s: float
) -> Generator[Result, None, None]:
    """One result a cell."""
    return exchanges.one_by_one(
        entries,
        start=asking.starting(found.environment, timeout_s),
        load=lambda worker: exchanges.load(worker, entries[0], found),
        ask=_trace,
        failed=_failed,
        scratch="api",
    )


def _failed(entry: Entry, why: AskFailed) -> Result:
    return Result(documents.cell_name(entry), failure=str(why))


def _trace(worker: Worker, entry: Entry) -> Result:
    name = documents.cell_name(entry)
    _, told = exchanges.ask(worker, entry, {"do": "api_calls"})
    if "why_not" in told:
        return Result(name, failure=str(told["why_not"]))
    return Result(name, told["calls"], told["phases"])


def trace_run(
    folder: Path, found: Mapping[str, Catalogue], timeout_s: float, *, quiet: bool
) -> int:
    """Counts what the run in `folder` measured and writes it into its journal. `found` are the
    adapters by environment. Returns as `afterwards.go_through`.
    """
    document = documents.load(Path(_core.write_document(str(folder))))

    def doing(couple: Sequence[Entry]) -> str:
        return f"tracing {afterwards.title(couple)}"

    def look(couple: Sequence[Entry]) -> Generator[Result, None, None]:
        return trace_couple(couple, found[couple[0]["environment"]], timeout_s)

    def keep(result: Result) -> None:
        counted = (result.cell, result.calls, result.phases, result.failure)
        _core.append_api_calls(str(folder), [counted])

    couples = afterwards.couples(to_trace(document))
    return afterwards.go_through(couples, doing, look, keep, quiet=quiet)


def line(entry: Entry) -> str:
    """ "1 sync, 2 event (export: 1 sync)", "none", or nothing where nobody counted."""
    calls = entry.get("api_calls")
    if calls is None:
        return ""
    phases = [(phase, _listed(counts)) for phase, counts in calls.get("phases", {}).items()]
    told = "; ".join(f"{phase}: {listed}" for phase, listed in phases if listed)
    return (_listed(calls) or "none") + (f" ({told})" if told else "")


def _listed(counts: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{number} {kind}" for kind, number in counts.items() if kind != "phases" and number
    )
