"""The reproduction scripts of the page: one for each reason why cells have no number."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

from dlbench import _core
from dlbench.document import Document
from dlbench.errors import BadInput
from dlbench.findings import FAILURES
from dlbench.libraries import discover

MOST = 200  #: scripts, so that a page of many thousand cells stays small


def scripts(document: Document, cells: Iterable[int]) -> dict[int, str]:
    """The scripts of these cells without a number; None if the adapter is not installed here."""
    # Import late, because it imports NumPy, which other reports do not need.
    from dlbench.scripts import exchange

    found: dict[int, str] = {}
    catalogue = discover.catalogue()
    for cell in cells:
        entry = document.not_measured[cell - len(document.measured)]
        if len(found) == MOST or FAILURES.get(entry.outcome) not in ("repro", "debug"):
            continue
        with contextlib.suppress(BadInput, _core.UsageError):
            found[cell] = exchange.of_run(document, entry, catalogue)
    return found
