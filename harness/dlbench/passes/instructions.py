"""`--count instructions`: counts what a run has measured, a worker under valgrind for each pair,
several at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dlbench import _core
from dlbench.counting.exchange import Counted
from dlbench.counting.valgrind import CountingWorker
from dlbench.document import EXCHANGE, Document, Entry, Measured, codes
from dlbench.passes.walk import Pass, by_pair, has_result, pair_title
from dlbench.supervisor import RequestFailed, Worker
from dlbench.text.grouping import grouped

SLOWER = 10  #: factor by which a step's deadline is longer under valgrind
TOO_SHORT = "no more than the cost of separating the phases"

Group = list[Entry]  #: an exchange and its phases, which are counted together


#: Of one cell: its name, and the instructions or why there are none.
Result = tuple[str, float | None, str]


class CountInstructions(Pass[Group, list[Result]]):
    """The pass over the measured exchanges and phases on the clock `call`."""

    name = "count"
    worker_bytes = 4 << 30  # with two large libraries under valgrind

    def pending(self, document: Document) -> list[list[Group]]:
        entries = [
            entry
            for entry in document.entries
            if isinstance(entry, Measured)
            and entry.clock == "call"
            and not has_result(entry, "instructions", codes.INSTRUCTIONS_FAILED)
        ]

        def exchange(entry: Entry) -> tuple[Any, ...]:
            return entry.axes(EXCHANGE)

        return [list(grouped(of_pair, exchange).values()) for of_pair in by_pair(entries)]

    def entry(self, item: Group) -> Entry:
        return item[0]

    def cells(self, item: Group) -> int:
        return len(item)

    def title(self, item: Group) -> str:
        return f"counting {pair_title(item[0])}"

    def start(self, item: Group, folder: Path) -> Worker:
        return CountingWorker(folder, self.catalogue(item).environment, self.timeout_s * SLOWER)

    def send_request(self, worker: Worker, item: Group) -> list[Result]:
        assert isinstance(worker, CountingWorker)
        whole = [entry for entry in item if entry.is_exchange]
        phases = [entry for entry in item if not entry.is_exchange]
        counted = Counted(worker, item[0])
        results: list[Result] = [(entry.name, counted.count().total, "") for entry in whole]
        if phases:
            results += self._phases(worker, counted, phases)
        counted.drop()
        return results

    def _phases(self, worker: Worker, counted: Counted, phases: Group) -> list[Result]:
        try:
            found = counted.phases()
        except RequestFailed as failure:
            if not worker.is_alive():
                raise
            return self.fail(phases, failure)
        results: list[Result] = []
        for entry in phases:
            count = found.get(entry.phase, 0.0)
            name = entry.name
            results.append((name, count, "") if count > 0 else (name, None, TOO_SHORT))
        return results

    def fail(self, item: Group, failure: RequestFailed) -> list[Result]:
        return [(entry.name, None, str(failure)) for entry in item]

    def record(self, result: list[Result]) -> None:
        _core.append_counts(str(self.folder), result)
