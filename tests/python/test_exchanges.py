"""A couple's exchanges asked about one by one: who answers, who fails, what is left behind."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from dlbench import afterwards, debug, discover, exchanges
from dlbench.asking import AskFailed, Worker
from dlbench.errors import BadInput

#: Speaks the wire as a worker does: what it is asked to do is how it ends or answers.
SCRIPT = """\
import json, os, socket, sys, time
wire = socket.socket(fileno=int(sys.argv[1])).makefile("rw")
def say(**line):
    print(json.dumps(line), file=wire, flush=True)
say(ok={})
for line in wire:
    word = json.loads(line)["do"]
    if word == "die":
        os.abort()
    if word == "hang":
        time.sleep(600)
    if word in ("[]", "{}", '{"ok": []}', "garbage"):
        print(word, file=wire, flush=True)
    if word == "refuse":
        say(error={"exception": "BufferError", "reason": "not this one"})
    elif word == "end":
        sys.exit(3)
    else:
        say(ok={"word": word, "pid": os.getpid()})
"""


class Seen:
    """What one pass started."""

    def __init__(self, timeout_s: float = 60.0) -> None:
        self.timeout_s = timeout_s
        self.folders: list[Path] = []
        self.pids: list[int] = []

    def go(self, *words: str, load: str = "load") -> Generator[tuple[str, ...], None, None]:
        def start(folder: Path) -> Worker:
            self.folders.append(folder)
            worker = Worker(lambda fd: [sys.executable, "-c", SCRIPT, str(fd)], self.timeout_s)
            self.pids.append(worker._process.pid)
            return worker

        return exchanges.one_by_one(
            words,
            start=start,
            load=lambda worker: worker.ask({"do": load}),
            ask=lambda worker, word: (str(worker.ask({"do": word})["word"]),),
            failed=lambda word, why: (word, why.outcome, str(why)),
            scratch="test",
        )

    def nothing_is_left(self) -> None:
        assert not [folder for folder in self.folders if folder.exists()]
        for pid in self.pids:
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)


def test_one_worker_serves_a_couple() -> None:
    seen = Seen()
    assert list(seen.go("a", "b", "c")) == [("a",), ("b",), ("c",)]
    assert len(seen.pids) == 1
    seen.nothing_is_left()


def test_a_refusal_costs_no_worker() -> None:
    seen = Seen()
    refused = ("refuse", "refused", "BufferError: not this one")
    assert list(seen.go("a", "refuse", "b")) == [("a",), refused, ("b",)]
    assert len(seen.pids) == 1


def test_what_takes_the_worker_along_costs_its_own_answer() -> None:
    seen = Seen(timeout_s=4)
    dead = ("die", "crashed", "the worker ended: SIGABRT")
    late = ("hang", "timed-out", "no answer from the worker within 4 s")
    assert list(seen.go("a", "die", "b", "hang", "die")) == [("a",), dead, ("b",), late, dead]
    assert len(seen.pids) == 3
    seen.nothing_is_left()


def test_what_is_no_answer_costs_the_worker() -> None:
    seen = Seen()
    lines = ("[]", "{}", '{"ok": []}', "garbage")
    found = list(seen.go(*lines, "a"))
    assert [line[:2] for line in found] == [*((line, "crashed") for line in lines), ("a",)]
    seen.nothing_is_left()


@pytest.mark.parametrize(
    ("load", "outcome", "why"),
    [
        ("die", "crashed", "the worker ended: SIGABRT"),
        ("refuse", "import-failed", "BufferError: not this one"),
    ],
)
def test_what_cannot_be_loaded_is_tried_once(load: str, outcome: str, why: str) -> None:
    seen = Seen()
    assert list(seen.go("a", "b", load=load)) == [("a", outcome, why), ("b", outcome, why)]
    assert len(seen.pids) == 1
    seen.nothing_is_left()


def test_who_is_asked_to_end_may_fail_alone() -> None:
    said = []

    def end(worker: Worker) -> None:
        with pytest.raises(AskFailed) as failure:
            worker.finish()
        said.append(str(failure.value))

    asked = exchanges.one_by_one(
        ["a"],
        start=lambda folder: Worker(lambda fd: [sys.executable, "-c", SCRIPT, str(fd)], 60.0),
        load=lambda worker: None,
        ask=lambda worker, word: worker.ask({"do": word})["word"],
        failed=lambda word, why: why,
        end=end,
        scratch="test",
    )
    assert list(asked) == ["a"]
    assert said == ["the worker ended: exit status 3"]


def test_who_stops_early_leaves_nothing() -> None:
    seen = Seen()
    asked = seen.go("a", "b")
    assert next(asked) == ("a",)
    assert seen.folders[0].exists()
    asked.close()
    seen.nothing_is_left()


@pytest.mark.parametrize("at", ["while it is asked", "while a result is kept"])
def test_a_signal_leaves_nothing(at: str) -> None:
    seen, kept = Seen(), []
    word = "hang" if at == "while it is asked" else "b"
    sent = signal.SIGTERM if word == "b" else signal.SIGHUP

    def keep(result: tuple[str, ...]) -> None:
        kept.append(result)
        if word == "b":
            os.kill(os.getpid(), sent)
            time.sleep(60)
        else:
            signal.setitimer(signal.ITIMER_REAL, 0.3)

    before = signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), sent))
    try:
        ended_by = afterwards.go_through(
            [["a", word]], lambda _: "", lambda couple: seen.go(*couple), keep, quiet=True
        )
    finally:
        signal.signal(signal.SIGALRM, before)
    assert (ended_by, kept) == (sent, [("a",)])
    seen.nothing_is_left()


@pytest.mark.parametrize("role", ["producer", "consumer"])
def test_a_library_that_is_not_here_is_named(role: str) -> None:
    entry = {"producer": "numpy", "consumer": "numpy", role: "gone"}
    with pytest.raises(BadInput, match=f"^no {role} adapter 'gone' here"):
        debug.loading(entry, discover.catalogue())
