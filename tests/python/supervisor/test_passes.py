"""A pass over exchanges: recorded results, lost workers, and remaining items."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dlbench import worker_requests
from dlbench.document import Entry
from dlbench.errors import BadInput
from dlbench.libraries import discover
from dlbench.libraries.discover import Catalogue
from dlbench.passes.walk import Pass, walk
from dlbench.supervisor import RequestFailed, Worker
from typed import entry_of

pytestmark = pytest.mark.process

#: Speaks the wire as a worker does: its request tells how it ends or answers.
SCRIPT = """\
import json, os, socket, sys, time
wire = socket.socket(fileno=3).makefile("rw")
def send(**line):
    print(json.dumps(line), file=wire, flush=True)
send(hello={})
for line in wire:
    word = json.loads(line)["do"]
    if word == "die":
        os.abort()
    if word == "hang":
        time.sleep(600)
    if word in ("[]", "{}", '{"ok": []}', "garbage"):
        print(word, file=wire, flush=True)
    if word == "refuse":
        send(error={"exception": "BufferError", "reason": "not this one"})
    elif word == "end":
        sys.exit(3)
    else:
        send(ok={"word": word, "pid": os.getpid()})
"""

Result = tuple[str, ...]


class Words(Pass[str, Result]):
    """Sends words as requests."""

    name = "test"

    def __init__(self, timeout_s: float = 60.0, load: str = "load") -> None:
        super().__init__(Path(), {"default": Catalogue()}, timeout_s)
        self.load_word = load
        self.folders: list[Path] = []
        self.pids: list[int] = []
        self.results: list[Result] = []

    def pending(self, document: dict[str, Any]) -> list[list[str]]:
        return []

    def entry(self, item: str) -> Entry:
        return entry_of({"environment": "default"})

    def title(self, items: Sequence[str]) -> str:
        return ""

    def start(self, item: str, folder: Path) -> Worker:
        self.folders.append(folder)
        worker = Worker([sys.executable, "-c", SCRIPT], self.timeout_s)
        assert worker.pid is not None
        self.pids.append(worker.pid)
        return worker

    def load(self, worker: Worker, item: str) -> None:
        worker.send_request({"do": self.load_word})

    def send_request(self, worker: Worker, item: str) -> Result:
        return (str(worker.send_request({"do": item})["word"]),)

    def fail(self, item: str, failure: RequestFailed) -> Result:
        return (item, failure.outcome, str(failure))

    def record(self, result: Result) -> None:
        self.results.append(result)

    def go(self, *words: str) -> list[Result]:
        assert walk(self, [words], quiet=True) == 0
        self.require_nothing_left()
        return self.results

    def require_nothing_left(self) -> None:
        assert not [folder for folder in self.folders if folder.exists()]
        for pid in self.pids:
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)


def test_one_worker_serves_a_pair() -> None:
    words = Words()
    assert words.go("a", "b", "c") == [("a",), ("b",), ("c",)]
    assert len(words.pids) == 1


def test_a_refusal_costs_no_worker() -> None:
    words = Words()
    refused = ("refuse", "refused", "BufferError: not this one")
    assert words.go("a", "refuse", "b") == [("a",), refused, ("b",)]
    assert len(words.pids) == 1


def test_an_exchange_that_ends_the_worker_costs_its_own_result() -> None:
    words = Words(timeout_s=4)
    dead = ("die", "crashed", "the worker ended: SIGABRT")
    late = ("hang", "timed-out", "no answer from the worker within 4 s")
    assert words.go("a", "die", "b", "hang", "die") == [("a",), dead, ("b",), late, dead]
    assert len(words.pids) == 3


def test_a_line_that_is_no_answer_costs_the_worker() -> None:
    lines = ("[]", "{}", '{"ok": []}', "garbage")
    found = Words().go(*lines, "a")
    assert [line[:2] for line in found] == [*((line, "crashed") for line in lines), ("a",)]


@pytest.mark.parametrize(
    ("load", "outcome", "why"),
    [
        ("die", "crashed", "the worker ended: SIGABRT"),
        ("refuse", "import-failed", "BufferError: not this one"),
    ],
)
def test_a_pair_that_cannot_be_loaded_is_tried_once(load: str, outcome: str, why: str) -> None:
    words = Words(load=load)
    assert words.go("a", "b") == [("a", outcome, why), ("b", outcome, why)]
    assert len(words.pids) == 1


def test_a_worker_that_is_requested_to_end_may_fail_alone() -> None:
    class Finished(Words):
        reason = ""

        def finish(self, worker: Worker, item: str) -> None:
            with pytest.raises(RequestFailed) as failure:
                worker.finish()
            self.reason = str(failure.value)

    words = Finished()
    assert words.go("a") == [("a",)]
    assert words.reason == "the worker ended: exit status 3"


@contextmanager
def sent_on_alarm(number: int) -> Iterator[None]:
    before = signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), number))
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_a_worker_is_requested_leaves_nothing(number: int) -> None:
    class Alarmed(Words):
        def record(self, result: Result) -> None:
            super().record(result)
            signal.setitimer(signal.ITIMER_REAL, 0.3)

    words = Alarmed()
    with sent_on_alarm(number):
        ended_by = walk(words, [["a", "hang"]], quiet=True)
    assert (ended_by, words.results) == (number, [("a",)])
    words.require_nothing_left()


def test_a_signal_while_a_result_is_recorded_leaves_nothing() -> None:
    class Signaled(Words):
        def record(self, result: Result) -> None:
            super().record(result)
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(60)

    words = Signaled()
    ended_by = walk(words, [["a", "b"]], quiet=True)
    assert (ended_by, words.results) == (signal.SIGTERM, [("a",)])
    words.require_nothing_left()


@pytest.mark.parametrize("role", ["producer", "consumer"])
def test_a_library_without_its_adapter_is_named(role: str) -> None:
    entry = entry_of({"producer": "numpy", "consumer": "numpy", role: "gone"})
    with pytest.raises(BadInput, match=f"^no {role} adapter 'gone' here"):
        worker_requests.load_pair(entry, discover.catalogue())
