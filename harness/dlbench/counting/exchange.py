"""Counts one exchange as the difference of two passes, so that entering and leaving cancel out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dlbench import worker_requests
from dlbench.counting import parts
from dlbench.counting.profile import BadProfile, Function, Profile
from dlbench.counting.valgrind import CountingWorker
from dlbench.document import Entry
from dlbench.supervisor import RequestFailed

PRELUDE = 64  #: calls before each pass, to fill free lists and the interpreter's caches
MOST_CALLS = 200  #: in the shorter pass; the longer has twice as many
PASS_INSTRUCTIONS = 20_000_000  #: limit for the shorter pass, about a second under callgrind


@dataclass(frozen=True)
class Share:
    """The number of entries into a function in one exchange, and the cost with its callees."""

    calls: float
    cost: float


@dataclass
class Count:
    """Instructions of one exchange: the total, each function's own, and with its callees."""

    total: float
    own: dict[Function, float]
    entered: dict[Function, Share] = field(default_factory=dict)


@dataclass(frozen=True)
class Frame:
    """A Python function in its place in the tree of calls; `parent` -1: called from C."""

    parent: int
    function: str
    file: str


class Counted:
    """An exchange, prepared in a worker."""

    def __init__(self, worker: CountingWorker, entry: Entry) -> None:
        self._worker = worker
        worker.send_request(worker_requests.prepare(entry, round_ns=1))  # nothing is timed
        # The first pass measures the cost of one call, and warms up the rest.
        reported = self._pass(4)[0]
        self._most = max(int(reported["most"]) // 2, 1)
        self._calls = self._fitting(self._latest.total / 4)
        self._pass(self._calls)

    def _fitting(self, each: float) -> int:
        if self._most < 2:
            raise RequestFailed("too large for several calls in a row")
        return max(2, min(MOST_CALLS, self._most, int(PASS_INSTRUCTIONS / max(each, 1.0))))

    def _pass(self, calls: int, **what: bool) -> tuple[dict[str, Any], Profile]:
        requested = {"do": "count", "id": 0, "clock": "call", "iterations": calls}
        reported = self._worker.send_request({**requested, "prelude": min(PRELUDE, calls), **what})
        try:
            self._latest = self._worker.read_pass()
        except BadProfile as error:
            raise RequestFailed(str(error)) from error
        return reported, self._latest

    def count(self) -> Count:
        """The instructions of the timed loop. Raises RequestFailed."""
        return self._difference()[0]

    def by_python_function(self) -> tuple[Count, list[Frame]]:
        """The same, with each Python function below a C++ function of its own, dlbench_frame<i>."""
        return self._difference(names=True)

    def phases(self) -> dict[str, float]:
        """Instructions of each of its phases.

        Raises RequestFailed if they cannot be separated.
        """
        self._worker.send_request({"do": "split", "id": 0})
        self._pass(self._calls, phases=True)
        counted, _ = self._difference(phases=True)
        return parts.phases({each: (s.calls, s.cost) for each, s in counted.entered.items()})

    def drop(self) -> None:
        self._worker.send_request({"do": "drop", "id": 0})

    def _difference(self, **what: bool) -> tuple[Count, list[Frame]]:
        """Instructions from two passes; `what` is `names` or `phases`, as in the request."""
        _, one = self._pass(self._calls, **what)
        reported, two = self._pass(2 * self._calls, **what)
        total = (two.total - one.total) / self._calls
        if total <= 0:
            raise RequestFailed("twice as many calls took no more instructions")
        own = {
            function: (two.own.get(function, 0) - one.own.get(function, 0)) / self._calls
            for function in {*one.own, *two.own}
        }
        entered = {
            function: Share(
                *(
                    (after - before) / self._calls
                    for before, after in zip(
                        one.entered.get(function, (0, 0)),
                        two.entered.get(function, (0, 0)),
                        strict=True,
                    )
                )
            )
            for function in {*one.entered, *two.entered}
        }
        frames = [Frame(**each) for each in reported["frames"]]
        return Count(total, own, entered), frames
