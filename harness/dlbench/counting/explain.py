"""`dlbench explain`: counts one cell's exchange and makes its breakdown."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

from dlbench import values
from dlbench.counting.breakdown import Breakdown, breakdown
from dlbench.counting.exchange import Counted
from dlbench.counting.valgrind import CountingWorker
from dlbench.document import EXCHANGE, Document, Entry, Measured, NotMeasured
from dlbench.document.facts import PHASES
from dlbench.errors import BadInput
from dlbench.libraries.discover import Catalogue
from dlbench.supervisor import RequestFailed


def phases_of(entries: Iterable[Entry], entry: Entry) -> list[Entry]:
    """The phase cells of the same exchange."""
    axes = (*EXCHANGE, "machine")
    wanted = entry.axes(axes)
    return [each for each in entries if each.phase in PHASES and each.axes(axes) == wanted]


def countable(entry: Entry) -> Measured:
    """The entry. Raises BadInput for a cell whose exchange cannot be counted."""
    name = entry.name
    if isinstance(entry, NotMeasured):
        raise BadInput(f"{name} was not measured: {entry.outcome}: {values.reason(entry)}")
    if not isinstance(entry, Measured) or not entry.is_exchange or entry.clock != "call":
        raise BadInput(f"{name}: only an exchange by the clock `call` can be explained")
    return entry


def changed(document: Document, entry: Entry, versions: dict[str, str]) -> list[str]:
    """A line for each library whose version has changed since the cell was measured."""
    before = document.versions(entry.environment)
    return [
        f"{name} is {version} here; the run measured {before[name]}"
        for name, version in sorted(versions.items())
        if version and before.get(name) not in (None, "", version)
    ]


def _breakdown(worker: CountingWorker, counted: Counted) -> Breakdown:
    plain = counted.count()
    try:
        made = breakdown(plain, *counted.by_python_function())
    except RequestFailed as failure:
        if not worker.is_alive():
            raise
        made = breakdown(plain, plain, ())
        made.missing = str(failure)
    try:
        made.phases = counted.phases()
    except RequestFailed as failure:
        made.no_phases = str(failure)
    return made


def explain(
    entry: Measured, found: Catalogue, timeout_s: float
) -> tuple[Breakdown, dict[str, str]]:
    """The instruction breakdown, and the versions of the libraries. Raises BadInput."""
    try:
        with (
            tempfile.TemporaryDirectory(prefix="dlbench-count-") as folder,
            CountingWorker(Path(folder), found.environment, timeout_s) as worker,
        ):
            versions = worker.load(entry, found)
            counted = Counted(worker, entry)
            return _breakdown(worker, counted), versions
    except RequestFailed as error:
        raise BadInput(f"cannot count {entry.name}: {error}") from error
