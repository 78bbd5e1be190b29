"""A child's output is limited, and output that is no message ends the child."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from dlbench import _core
from dlbench.check.runner import read_result
from dlbench.check.verdict import HOLDS
from dlbench.environments.probe import _message
from dlbench.supervisor import RequestFailed, Worker

pytestmark = pytest.mark.process

HELLO = "import os, sys, time\nos.write(3, b'{\"hello\": {}}\\n')\n"


def child(source: str) -> list[str]:
    return [sys.executable, "-S", "-c", HELLO + source]


def failure_of(source: str, timeout_s: float = 60.0) -> RequestFailed:
    with pytest.raises(RequestFailed) as failure, Worker(child(source), timeout_s) as worker:
        worker.send_request({"do": "anything"})
    return failure.value


@pytest.mark.parametrize(
    "line",
    [
        b"", b"garbage", b"[]", b"null", b"NaN", b"3", b'"text"', b"\0", b"\xff", b"1" * 5000,
        b"[" * 20_000, b'{"a":' * 20_000, b'{"ok": NaN}', rb'{"ok": "\ud83d"}',
        b'{"neither": 1}', b'{"ok": ' + b"[" * 5000 + b"]" * 5000 + b"}",
    ],
)  # fmt: skip
def test_a_line_that_is_no_answer_ends_the_worker(line: bytes) -> None:
    source = f"sys.stdin.read(1); os.write(3, {line!r} + b'\\n'); time.sleep(600)"
    failure = failure_of(source)
    assert (failure.outcome, failure.death is not None) == ("crashed", True)
    assert failure.death is not None
    assert failure.death.garbled
    assert str(failure).startswith("the worker sent no valid answer: it sent ")
    assert len(str(failure)) < 200


def test_an_endless_line_ends_the_worker() -> None:
    failure = failure_of("while True:\n    os.write(3, b'x' * 65536)")
    assert "a line that is too long" in str(failure)


@pytest.mark.parametrize(
    ("source", "outcome", "text"),
    [
        ("sys.stderr.write('why\\n\\n'); sys.exit(3)", "crashed", "ended: exit status 3: why"),
        ("print('so', flush=True); sys.exit(0)", "crashed", "ended: exit status 0: so"),
        ("os.kill(os.getpid(), 11)", "crashed", "ended: SIGSEGV"),
        (
            "import faulthandler; faulthandler.enable(); os.write(2, b'why\\n'); os.abort()",
            "crashed",
            "ended: SIGABRT: why",
        ),
        (
            'os.write(3, b\'{"step": "make"}\\n\'); os.abort()',
            "crashed",
            "ended at step 'make': SIGABRT",
        ),
        (
            "os.close(3); time.sleep(600)",
            "crashed",
            "sent no valid answer: it closed its end of the wire",
        ),
    ],
)
def test_an_end_is_described(source: str, outcome: str, text: str) -> None:
    failure = failure_of(source)
    assert (failure.outcome, str(failure)) == (outcome, f"the worker {text}")


def test_a_deadline_names_the_step() -> None:
    source = 'os.read(3, 100); os.write(3, b\'{"step": "call"}\\n\'); time.sleep(600)'
    failure = failure_of(source, 1.0)
    assert failure.outcome == "timed-out"
    assert str(failure) == "no answer from the worker within 1 s, at step 'call'"


def test_a_worker_and_its_children_are_killed_at_the_end_of_the_block() -> None:
    source = """
import subprocess
left = subprocess.Popen(["sleep", "600"])
os.write(3, b'{"ok": {"pid": %d}}\\n' % left.pid)
time.sleep(600)
"""
    with Worker(child("os.read(3, 100)" + source), 60.0) as worker:
        pids = [worker.pid, worker.send_request({"do": "anything"})["pid"]]
    for pid in pids:
        assert pid is not None
        require_gone(pid)


#: Leaves a process in a session of its own, whose parent has ended; prints its id.
DAEMON = """
import os, time
read, write = os.pipe()
if (child := os.fork()) == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(write, b"%d" % os.getpid())
        for fd in (1, 2, 3):
            os.close(fd)
        time.sleep(600)
    os._exit(0)
os.waitpid(child, 0)
pid = int(os.read(read, 20))
"""


@pytest.mark.parametrize("ends", ["", "os.abort()\n"])
def test_what_a_dead_child_leaves_is_killed_and_nothing_else(ends: str) -> None:
    answer = 'os.write(3, b\'{"ok": {"pid": %d}}\\n\' % pid); os.read(3, 100)\n'
    with Worker(child(f"{DAEMON}os.read(3, 100)\n{answer}{ends}"), 60.0) as worker:
        # The daemon of a living child, and a process of this program's own.
        left = worker.send_request({"do": "anything"})["pid"]
        own = subprocess.Popen(["sleep", "600"], start_new_session=True)
        ended = _core.run_program([sys.executable, "-S", "-c", f"{DAEMON}print(pid)"], 60.0)
        require_gone(int(ended.out))
        assert Path("/proc", str(left)).exists()
        if ends:
            with pytest.raises(RequestFailed, match="SIGABRT"):
                worker.send_request({"do": "anything"})
    require_gone(left)
    assert own.poll() is None
    own.kill()
    own.wait()


def require_gone(pid: int) -> None:
    """Its parent, which may be init, reaps it a little later."""
    for _ in range(1000):
        try:
            with Path("/proc", str(pid), "stat").open() as file:
                if file.read().rpartition(")")[2].split()[0] in "ZX":
                    return
        except FileNotFoundError:
            return
        time.sleep(0.01)
    raise AssertionError(f"{pid} lives")


def test_a_command_that_cannot_be_started_is_an_os_error_with_its_name() -> None:
    for program in ("/no/such/program", "/no/such/\udcff", __file__):
        for start in (Worker, _core.run_program):
            with pytest.raises(OSError, match=r"No such file|Permission denied") as raised:
                start([program], 60.0)
            assert raised.value.errno
            assert raised.value.filename == program


def test_texts_reach_the_program_as_bytes(tmp_path: Path) -> None:
    """A path need not be UTF-8: Python holds each other byte as a surrogate."""
    odd = os.fsdecode(bytes(tmp_path) + b"/\xff")
    Path(odd).symlink_to(sys.executable)
    show = "import os, sys; print(os.fsencode(sys.argv[1]))"
    ran = _core.run_program([odd, "-S", "-c", show, odd], 60.0)
    assert (ran.status, ran.out) == (0, f"{os.fsencode(odd)!r}\n"), ran.err
    source = "os.read(3, 100); text = os.environb[b'ODD'].hex()\n"
    source += 'os.write(3, b\'{"ok": {"text": "%s"}}\\n\' % text.encode()); time.sleep(600)\n'
    with Worker([odd, *child(source)[1:]], 60.0, variables={"ODD": "\udcff"}) as worker:
        assert worker.send_request({"do": "anything"}) == {"text": "ff"}


def started(source: str) -> _core.Worker:
    """Greeted already."""
    worker = _core.Worker(child(source), 60.0)
    assert worker.receive() == '{"hello":{}}'
    return worker


SILENT = "time.sleep(600)"


def test_another_thread_may_stop_a_worker_whose_answer_is_waited_for() -> None:
    worker = started(SILENT)
    pid = worker.pid
    assert pid is not None
    thread = threading.Timer(0.3, worker.stop)
    thread.start()
    with pytest.raises(RuntimeError, match="stopped while a call waited for its answer"):
        worker.send_request('{"do": "anything"}')
    thread.join()
    require_gone(pid)
    assert not worker.is_alive
    with pytest.raises(RuntimeError, match="the worker has ended"):
        worker.receive()
    worker.stop()


def test_a_signals_handler_may_stop_a_worker_whose_answer_is_waited_for() -> None:
    worker = started(SILENT)
    before = signal.signal(signal.SIGALRM, lambda *_: worker.stop())
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(RuntimeError, match="stopped while a call waited for its answer"):
            worker.send_request('{"do": "anything"}')
    finally:
        signal.signal(signal.SIGALRM, before)


def test_one_call_at_a_time_waits_for_an_answer() -> None:
    worker = started(SILENT)
    refused: list[str] = []

    def request_too() -> None:
        for call in (
            lambda: worker.send_request("{}"),
            worker.receive,
            lambda: worker.finish("{}"),
        ):
            with pytest.raises(RuntimeError) as raised:
                call()
            refused.append(str(raised.value))
        assert worker.is_alive
        worker.stop()

    thread = threading.Timer(0.3, request_too)
    thread.start()
    with pytest.raises(RuntimeError, match="was stopped"):
        worker.receive()
    thread.join()
    assert refused == ["another call waits for this worker's answer"] * 3


FLOOD = "import os\nwhile True:\n    os.write(1, b'y' * 65536)\n    os.write(2, b'n' * 65536)\n"


def test_a_flood_is_cut_and_ended() -> None:
    ended = _core.run_program([sys.executable, "-S", "-c", FLOOD], 0.5)
    assert ended.status is None
    assert 0 < len(ended.out) <= 1 << 20
    assert 0 < len(ended.err) <= 1 << 16
    assert (set(ended.out), set(ended.err)) == ({"y"}, {"n"})


# A grandchild keeps the streams open.
LEFT = """\
import subprocess, sys
left = subprocess.Popen(["sleep", "600"], start_new_session=len(sys.argv) > 1)
print(left.pid, flush=True)
sys.exit(3)
"""


@pytest.mark.parametrize("words", [["own session"], []])
def test_a_stream_that_stays_open_is_not_waited_for(words: list[str]) -> None:
    ended = _core.run_program([sys.executable, "-S", "-c", LEFT, *words], 60.0)
    assert ended.status == 3
    assert not Path("/proc", ended.out.strip()).exists()  # not even as a zombie


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_wait_and_the_program(number: int) -> None:
    class SignaledError(Exception): ...

    def raise_it(*_: object) -> None:
        raise SignaledError

    before = signal.signal(number, raise_it)
    alarm = signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(SignaledError):
            _core.run_program(["sleep", "600"], 600.0)
    finally:
        signal.signal(number, before)
        signal.signal(signal.SIGALRM, alarm)


def test_half_a_surrogate_pair_is_spelled_out() -> None:
    found = _message(r'{"a": "x \ud83d y", "b": [{"\udc00": "caf\u00e9 \ud83d\ude00"}]}')
    assert found == {"a": r"x \ud83d y", "b": [{r"\udc00": "café 😀"}]}


RULE = "export.capsule"


def test_a_rules_answer_is_read() -> None:
    answer = {"rule": RULE, "outcome": "holds", "observed": "", "struct": "legacy"}
    result = read_result(RULE, answer)
    assert result is not None
    assert (result.rule, result.outcome, result.struct) == (RULE, HOLDS, "legacy")


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"rule": "b", "outcome": "holds", "observed": ""},  # another rule's, one answer late
        {"outcome": "holds"},
        {"outcome": "fine", "observed": ""},
        {"outcome": [], "observed": ""},
        {"outcome": "holds", "observed": 3},
        {"outcome": "holds", "observed": "", "more": ""},
        {"outcome": "holds", "observed": "", "struct": "new"},
        {"outcome": "holds", "observed": "", "struct": ["legacy"]},
        {"outcome": "holds", "observed": "", "source": "elsewhere"},
        {"outcome": "holds", "observed": "", "source": ["line"]},
        {"outcome": "holds", "observed": "", "judged": "yes"},
        {"outcome": "holds", "observed": "x" * 3000},
    ],
)
def test_no_other_answer_is_a_rules_result(answer: dict[str, Any]) -> None:
    assert read_result(RULE, {"rule": RULE, **answer}) is None
