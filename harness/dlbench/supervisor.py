"""Workers outside the timed rounds, one request at a time. `_core.Worker` starts, reads, times and
kills the process; this module converts its answers to values and its end to an exception.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any, ClassVar, Generic, TypeVar

from dlbench import _core, worker_requests
from dlbench.document import Entry
from dlbench.environments.environment import Environment
from dlbench.errors import last_line
from dlbench.libraries.discover import Catalogue

#: What Python's faulthandler writes when a signal ends the process, which the signal says already.
FAULTHANDLER = re.compile(
    r"^Fatal Python error: (?:Segmentation fault|Aborted|Bus error|Illegal instruction)\n.*"
    r"|^Extension modules: .*",
    re.DOTALL | re.MULTILINE,
)
WORKER = Path(__file__).with_name("worker_main.py")
END = {"do": "end"}
Started = TypeVar("Started", bound="Worker")
Item = TypeVar("Item")
Result = TypeVar("Result")


class RequestFailed(Exception):  # noqa: N818  (a result, not a fault of the program)
    """A request has no result; the text is the reason, in one line. `outcome` and `exception`
    describe the worker's error; `death` is set if the worker ended."""

    def __init__(
        self,
        reason: str,
        outcome: str = "",
        exception: str = "",
        death: _core.Death | None = None,
    ) -> None:
        super().__init__(reason)
        self.outcome, self.exception, self.death = outcome, exception, death


def worker_command(place: Environment, *options: str) -> list[str]:
    """The command of a worker of that environment."""
    return [place.python, *worker_arguments(), *options]


def worker_arguments() -> list[str]:
    """The arguments of Python for a worker of this process."""
    return [str(WORKER), "--fd", "3", "--parent", str(os.getpid())]


class Worker:
    """One process. A context: the process and its group are killed at the end of the block."""

    def __init__(
        self,
        command: Sequence[str],
        timeout_s: float,
        *,
        name: str = "the worker",
        variables: Mapping[str, str] | None = None,
    ) -> None:
        """`name` is the worker's name in messages about its end. Raises OSError where the command
        cannot be started."""
        self._name, self._timeout_s, self._is_lost = name, timeout_s, False
        self._process = _core.Worker(command, timeout_s, variables=variables or {})
        self.pid = self._process.pid

    def __enter__(self: Started) -> Started:
        try:
            self._read(self._process.receive())  # the worker's greeting
        except BaseException:
            self._process.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stop()

    def stop(self) -> None:
        """Kills the worker, from any thread. Calls that wait for an answer, and later ones, raise
        RuntimeError."""
        self._process.stop()

    def is_alive(self) -> bool:
        """Can the worker accept another request?"""
        return not self._is_lost and self._process.is_alive

    def send_request(
        self, request: dict[str, Any], timeout_s: float | None = None
    ) -> dict[str, Any]:
        """The body of the answer. `timeout_s` applies to this request and later ones. Raises
        RequestFailed for an error, a death or a passed deadline."""
        self._timeout_s = timeout_s or self._timeout_s
        reply = self._read(self._process.send_request(json.dumps(request), self._timeout_s))
        error, body = reply.get("error"), reply.get("ok")
        if isinstance(error, dict):
            exception, reason = (str(error.get(key, "")) for key in ("exception", "reason"))
            text = ": ".join(word for word in (exception, reason) if word)
            raise RequestFailed(text, str(error.get("outcome", "")), exception)
        if not isinstance(body, dict):
            raise self.reject("neither ok nor error")
        return body

    def reject(self, why: str) -> RequestFailed:
        """The failure of a worker without a valid answer; it gets no further request."""
        self._is_lost = True
        return RequestFailed(f"{self._name} sent no valid answer: {why}", "crashed")

    def request_prepared(
        self, entry: Entry, request: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Prepares an exchange, makes one request about it and drops it; returns the answers to the
        first two requests."""
        prepared = self.send_request(worker_requests.prepare(entry, round_ns=1))  # nothing is timed
        answer = self.send_request({**request, "id": 0})
        self.send_request({"do": "drop", "id": 0})
        return prepared, answer

    def load(self, entry: Entry, found: Catalogue) -> dict[str, str]:
        """Loads both libraries of an exchange; their versions."""
        versions = {}
        for request in worker_requests.load_pair(entry, found):
            versions[request["library"]] = str(self.send_request(request).get("version", ""))
        return versions

    def end(self, request: dict[str, Any] | None = None) -> _core.Death:
        """Lets the worker end by itself, so that libraries and tools run their exit handlers."""
        self._is_lost = True
        return self._process.finish(json.dumps(request or END))

    def finish(self) -> None:
        """Like `end`, but raises RequestFailed if the worker fails at its end."""
        death = self.end()
        if death.outcome == "timed-out":
            raise RequestFailed(f"{self._name} did not end within {self._timeout_s:g} s")
        if death.exit_status != 0 or death.garbled:
            raise self._failure(death)

    def _read(self, answer: str | _core.Death) -> dict[str, Any]:
        if isinstance(answer, _core.Death):
            raise self._failure(answer)
        reply: dict[str, Any] = json.loads(answer)
        return reply

    def _failure(self, death: _core.Death) -> RequestFailed:
        self._is_lost = True
        step = f" at step {death.step!r}" if death.step else ""
        if death.outcome == "timed-out":
            comma = "," if step else ""
            text = f"no answer from {self._name} within {self._timeout_s:g} s{comma}{step}"
        elif death.garbled:
            text = f"{self._name} sent no valid answer{step}: {death.how}"
        else:
            how = death.signal or f"exit status {death.exit_status}"
            own = FAULTHANDLER.sub("", death.stderr_tail)
            last = last_line(own) or last_line(death.stdout_tail)
            text = f"{self._name} ended{step}: {how}" + (f": {last}" if last else "")
        return RequestFailed(text, death.outcome, death=death)


class Steps(ABC, Generic[Item, Result]):
    """Requests to a worker, each about an item of several that share the worker."""

    name: ClassVar[str]  #: of its temporary folders

    def __init__(self) -> None:
        self._running: set[Worker] = set()
        self._is_stopped = False

    @contextmanager
    def started(self, item: Item, folder: Path) -> Iterator[Worker]:
        """A worker that stop() ends."""
        worker = self.start(item, folder)
        self._running.add(worker)
        try:
            if self._is_stopped:
                worker.stop()
            with worker:
                yield worker
        finally:
            self._running.discard(worker)

    def stop(self) -> None:
        """Ends the workers, from any thread. No item gets a result after that."""
        self._is_stopped = True
        for worker in list(self._running):
            worker.stop()

    @abstractmethod
    def start(self, item: Item, folder: Path) -> Worker:
        """A worker for that item and the following ones. `folder` exists as long as the worker."""

    @abstractmethod
    def load(self, worker: Worker, item: Item) -> None:
        """Loads what all items need. Raises RequestFailed, as request() does."""

    @abstractmethod
    def send_request(self, worker: Worker, item: Item) -> Result: ...

    @abstractmethod
    def fail(self, item: Item, failure: RequestFailed) -> Result:
        """The result of an item without an answer; the failure has an `outcome`."""

    def is_tried_alone(self, item: Item) -> bool:
        """Is an item that ended a worker repeated in a new worker before it is reported?"""
        return False

    def finish(self, worker: Worker, item: Item) -> None:
        """Called with a worker that has answered every item; `item` is the last one. The worker is
        killed afterwards. Ignores failures, because every item has its result."""


def send_each(
    steps: Steps[Item, Result], items: Sequence[Item], keep: Callable[[Item, Result], None]
) -> None:
    """Passes a result of each item to `keep`, in order. If an item ends the worker, only that item
    has no result: a new worker handles the rest.
    """
    left = list(items)
    tried_alone: Item | None = None
    while left:
        first, is_loaded = left[0], False
        lost: RequestFailed | None = None
        with tempfile.TemporaryDirectory(prefix=f"dlbench-{steps.name}-") as folder:
            try:
                with steps.started(first, Path(folder)) as worker:
                    steps.load(worker, first)
                    is_loaded = True
                    while left:
                        keep(left[0], _answer(steps, worker, left[0]))
                        left.pop(0)
                        if not worker.is_alive():
                            break  # it was ended with an answer
                    else:
                        steps.finish(worker, items[-1])
            except RequestFailed as failure:
                lost = failure
        if lost is None:
            continue
        if is_loaded and left[0] not in (first, tried_alone) and steps.is_tried_alone(left[0]):
            tried_alone = left[0]
            continue
        lost.outcome = lost.outcome or ("crashed" if is_loaded else "import-failed")
        # If loading fails, it is not tried again for each item.
        for _ in range(1 if is_loaded else len(left)):
            item = left.pop(0)
            keep(item, steps.fail(item, lost))


def send_all(
    chains: Sequence[tuple[Steps[Item, Result], Sequence[Item]]],
    keep: Callable[[Item, Result], None],
    at_a_time: int,
) -> None:
    """send_each() for several chains of items at a time; `keep` is called on this thread. An
    exception, such as that of a signal's handler, ends all workers."""
    ready: SimpleQueue[tuple[Item, Result] | BaseException | None] = SimpleQueue()

    def run(steps: Steps[Item, Result], items: Sequence[Item]) -> None:
        try:
            send_each(steps, items, lambda item, result: ready.put((item, result)))
        except BaseException as error:
            ready.put(error)
        else:
            ready.put(None)

    with ThreadPoolExecutor(at_a_time) as pool:
        try:
            for steps, items in chains:
                pool.submit(run, steps, items)
            left = len(chains)
            while left:
                match ready.get():
                    case None:
                        left -= 1
                    case BaseException() as error:
                        raise error
                    case item, result:
                        keep(item, result)
        except BaseException:
            # A signal reaches the main thread alone, and the pool waits for its threads.
            pool.shutdown(wait=False, cancel_futures=True)
            for steps, _ in chains:
                steps.stop()
            raise


def _answer(steps: Steps[Item, Result], worker: Worker, item: Item) -> Result:
    """Raises RequestFailed where the worker is lost."""
    try:
        return steps.send_request(worker, item)
    except RequestFailed as failure:
        if not worker.is_alive():
            raise
        failure.outcome = failure.outcome or "refused"
        return steps.fail(item, failure)
