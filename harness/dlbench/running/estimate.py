"""About how long a run takes, for `--dry-run`."""

from __future__ import annotations

from collections.abc import Iterable

from dlbench import _core
from dlbench.document import LATEST, Document, locate, read_document
from dlbench.errors import BadInput
from dlbench.running.request import Request
from dlbench.text import time_left

#: Seconds of each process, for each library that it imports, and for each cell that it measures.
#: The last run in this folder corrects their sum, so only their ratio matters after the first run.
PROCESS_S, IMPORT_S, CELL_S = 1.0, 0.5, 0.02


def text(request: Request, pairs: Iterable[tuple[str, str]]) -> str:
    """ "about 75 s, judged by the last run in this folder". `pairs`: of each cell to measure."""
    budget_s = _core.parse_seconds(request.budget) if request.budget else float("inf")
    wanted = list(pairs)
    expected = _seconds(wanted, request.replicas, budget_s)
    try:
        last = read_document(locate(LATEST))
    except (BadInput, _core.UsageError, OSError):
        last = None
    known = {entry.pair for entry in last.measured} if last and last.run.did_end else set()
    # Imports differ too much to be judged by those of other libraries.
    if last is None or not known or not _libraries(wanted) <= _libraries(known):
        return f"about {_rounded(expected)}, more on a slow machine"
    return f"about {_rounded(expected * _correction(last))}, judged by the last run in this folder"


def _libraries(pairs: Iterable[tuple[str, str]]) -> set[str]:
    return {name for pair in pairs for name in pair}


def _seconds(pairs: list[tuple[str, str]], replicas: int, budget_s: float) -> float:
    cells_s = min(CELL_S * len(pairs) * replicas, budget_s)
    return replicas * (PROCESS_S + IMPORT_S * len(_libraries(pairs))) + cells_s


def _correction(last: Document) -> float:
    request = last.run.request
    budget_s = _core.parse_seconds(request.budget) if request.budget else float("inf")
    pairs = [entry.pair for entry in last.measured]
    return last.run.wall_s / _seconds(pairs, request.replicas, budget_s)


def _rounded(seconds: float) -> str:
    return time_left.text(time_left.rounded(seconds))
