"""`dlbench explain`: counts one cell's exchange and makes its bill."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dlbench import document as documents
from dlbench import exchanges, values
from dlbench.counting.bill import Bill, bill
from dlbench.counting.exchange import Counted
from dlbench.counting.parts import PHASES
from dlbench.counting.worker import CountFailed, Worker
from dlbench.discover import Catalogue
from dlbench.errors import BadInput
from dlbench.values import Entry


def phases_of(entries: Iterable[Entry], entry: Entry) -> list[Entry]:
    """The phase cells of the same exchange."""
    axes = (*documents.EXCHANGE, "machine")
    wanted = [entry.get(axis) for axis in axes]
    return [
        each
        for each in entries
        if each["phase"] in PHASES and [each.get(axis) for axis in axes] == wanted
    ]


def require_countable(entry: Entry) -> None:
    """Raises BadInput for a cell without an exchange that could be counted."""
    name = documents.cell_name(entry)
    if not values.is_measured(entry):
        raise BadInput(f"{name} was not measured: {entry['outcome']}: {values.reason(entry)}")
    if entry["phase"] != "exchange" or entry.get("clock", "call") != "call":
        raise BadInput(f"{name}: only an exchange by the clock `call` can be explained")


def changed(document: dict[str, Any], entry: Entry, versions: dict[str, str]) -> list[str]:
    """A line for each library that is not any more what it was when the cell was measured."""
    before = documents.versions(document, entry["environment"])
    return [
        f"the run had {name} {before[name]}, here is {version}"
        for name, version in sorted(versions.items())
        if version and before.get(name) not in (None, "", version)
    ]


def _bill(worker: Worker, counted: Counted) -> Bill:
    plain = counted.count()
    try:
        made = bill(plain, *counted.by_python_function())
    except CountFailed as failure:
        if not worker.is_alive():
            raise
        made = bill(plain, plain, ())
        made.missing = str(failure)
    try:
        made.phases = counted.phases()
    except CountFailed as failure:
        made.no_phases = str(failure)
    return made


def explain(entry: Entry, found: Catalogue, timeout_s: float) -> tuple[Bill, dict[str, str]]:
    """The bill, and the versions of the libraries that it is of. Raises BadInput."""
    require_countable(entry)
    try:
        with (
            tempfile.TemporaryDirectory(prefix="dlbench-count-") as folder,
            Worker(Path(folder), found.environment, timeout_s) as worker,
        ):
            versions = exchanges.load(worker, entry, found)
            counted = Counted(worker, entry)
            return _bill(worker, counted), versions
    except CountFailed as error:
        raise BadInput(f"cannot count {documents.cell_name(entry)}: {error}") from error
