"""A pass over exchanges: recorded results, lost workers, and remaining items."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
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

    def title(self, item: str) -> str:
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


def test_two_pairs_have_workers_at_the_same_time(tmp_path: Path) -> None:
    class Waiting(Words):
        def load(self, worker: Worker, item: str) -> None:
            (tmp_path / item).touch()
            deadline = time.monotonic() + 30
            firsts = [tmp_path / "a", tmp_path / "c"]
            while not all(each.exists() for each in firsts) and time.monotonic() < deadline:
                time.sleep(0.01)
            assert all(each.exists() for each in firsts)

    words = Waiting()
    assert walk(words, [["a", "b"], ["c", "die", "d"]], 2, quiet=True) == 0
    dead = ("die", "crashed", "the worker ended: SIGABRT")
    assert [one for one in words.results if one[0] in "ab"] == [("a",), ("b",)]
    assert [one for one in words.results if one[0] not in "ab"] == [("c",), dead, ("d",)]
    words.require_nothing_left()


def test_an_error_of_one_pair_ends_the_workers_of_all() -> None:
    class Failing(Words):
        def load(self, worker: Worker, item: str) -> None:
            if item == "bad":
                raise BadInput("no such library")
            super().load(worker, item)

    words = Failing()
    with pytest.raises(BadInput, match="no such library"):
        walk(words, [["hang"], ["bad"], ["never"]], 2, quiet=True)
    words.require_nothing_left()
    assert words.results == []


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
@pytest.mark.parametrize("at_a_time", [1, 2])
def test_a_signal_while_a_worker_is_requested_leaves_nothing(number: int, at_a_time: int) -> None:
    class Alarmed(Words):
        def record(self, result: Result) -> None:
            super().record(result)
            signal.setitimer(signal.ITIMER_REAL, 0.3)

    words = Alarmed()
    with sent_on_alarm(number):
        ended_by = walk(words, [["a", "hang"], ["hang"], ["never"]], at_a_time, quiet=True)
    assert (ended_by, words.results) == (number, [("a",)])
    assert len(words.pids) == at_a_time
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
