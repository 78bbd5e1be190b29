"""About how long a run takes, for `--dry-run`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dlbench import _core, document
from dlbench.document import LATEST, Entry, locate, read_document
from dlbench.errors import BadInput
from dlbench.running.request import Request
from dlbench.text import time_left

#: Seconds of each process, for each library that it imports, and for each cell that it measures.
#: The last run in this folder corrects their sum, so only their ratio matters after the first run.
PROCESS_S, IMPORT_S, CELL_S = 1.0, 0.5, 0.02

Exchange = _core.Cell | Entry  #: a planned cell or a measured one


def text(request: Request, cells: Iterable[Exchange]) -> str:
    """ "about 75 s, judged by the last run in this folder". `cells`: those to measure."""
    wanted = list(cells)
    expected = _seconds(wanted, request)
    try:
        last = read_document(locate(LATEST))
    except (BadInput, _core.UsageError, OSError):
        last = None
    known = {name for entry in last.measured for name in entry.pair} if last else set()
    # Imports differ too much to be judged by those of other libraries.
    libraries = {name for cell in wanted for name in (cell.producer, cell.consumer)}
    if last is None or not last.run.did_end or not known or not libraries <= known:
        return f"about {_rounded(expected)}, more on a slow machine"
    correction = last.run.wall_s / _seconds(last.measured, last.run.request)
    return f"about {_rounded(expected * correction)}, judged by the last run in this folder"


def _seconds(cells: Sequence[Exchange], request: Request | document.Request) -> float:
    """A process for the libraries of an environment, or with --isolate for each pair of them, in
    each replica."""
    processes: dict[tuple[str, ...], set[str]] = {}
    for cell in cells:
        pair = (cell.producer, cell.consumer)
        of = (cell.environment, *(pair if request.isolate else ()))
        processes.setdefault(of, set()).update(pair)
    imports = sum(map(len, processes.values()))
    budget_s = _core.parse_seconds(request.budget) if request.budget else float("inf")
    cells_s = min(CELL_S * len(cells) * request.replicas, budget_s)
    return request.replicas * (PROCESS_S * len(processes) + IMPORT_S * imports) + cells_s


def _rounded(seconds: float) -> str:
    return time_left.text(time_left.rounded(seconds))
