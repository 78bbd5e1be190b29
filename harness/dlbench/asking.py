"""A worker outside the fleet, asked one request at a time: for what is counted or traced."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from dlbench import child_output
from dlbench.child_output import Garbage, Lines, Reader, Stream, Streams, Tail, message
from dlbench.environments.environment import Environment
from dlbench.errors import signal_name

WORKER = Path(__file__).with_name("worker_main.py")
#: A profile is one answer.
LONGEST_ANSWER = 64 << 20
Asked = TypeVar("Asked", bound="Worker")


class AskFailed(Exception):  # noqa: N818  (a result, not a fault of the program)
    """Why a worker has no answer, in one line. `outcome` and `exception` are its own words, where
    it was the worker that said so; `signal` is what ended it."""

    def __init__(
        self, reason: str, outcome: str = "", exception: str = "", signal: str = ""
    ) -> None:
        super().__init__(reason)
        self.outcome, self.exception, self.signal = outcome, exception, signal


def command(place: Environment, fd: int, *options: str) -> list[str]:
    """A worker of that environment on a socket of ours."""
    return [place.python, str(WORKER), "--fd", str(fd), "--parent", str(os.getpid()), *options]


class Worker:
    """One process. A context: it ends with the block, whatever happens.

    `wrapped` makes its command from a file descriptor; `called` is what it is called where it
    fails; its failures are of the type `failure`.
    """

    failure: type[AskFailed] = AskFailed

    def __init__(
        self,
        wrapped: Callable[[int], Sequence[str]],
        timeout_s: float,
        called: str = "the worker",
        environment: Mapping[str, str] | None = None,
        before: Callable[[], None] | None = None,
    ) -> None:
        self._timeout_s, self._called = timeout_s, called
        self._step, self._lost = "", False
        ours, theirs = socket.socketpair()
        self._socket = ours
        with theirs, contextlib.ExitStack() as failing:
            failing.callback(ours.close)
            self._process = subprocess.Popen(
                wrapped(theirs.fileno()),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=environment,
                preexec_fn=before,
                start_new_session=True,
            )
            failing.pop_all()
        assert self._process.stdout is not None
        self._lines, self._unread = Lines(LONGEST_ANSWER), deque[bytes]()
        self._printed = Tail()
        self._streams = Streams({ours: self._hear, self._process.stdout: self._printed.add})

    def _hear(self, chunk: bytes) -> None:
        self._unread.extend(self._lines.add(chunk))

    def __enter__(self: Asked) -> Asked:
        try:
            self._answer()  # its greeting
        except BaseException:
            self._kill()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._kill()

    def _kill(self) -> None:
        self._streams.close()
        # Of its own session, so this ends its children too.
        child_output.end(self._process)
        self._socket.close()

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer's body. Raises `failure` for an error, a death, or a deadline passed."""
        try:
            self._socket.sendall(json.dumps(request).encode() + b"\n")
        except OSError:
            raise self._last_words() from None
        reply = self._answer()
        error, body = reply.get("error"), reply.get("ok")
        if isinstance(error, dict):
            words = [str(error.get(key, "")) for key in ("exception", "reason")]
            told = ": ".join(word for word in words if word)
            raise self.failure(told, str(error.get("outcome", "")), words[0])
        if not isinstance(body, dict):
            raise self._no_answer("neither ok nor error")
        return body

    def finish(self) -> None:
        """Lets it end by itself, so that what its libraries and tools do then is done. Raises
        `failure` where it does not."""
        with contextlib.suppress(OSError):
            self._socket.sendall(b'{"do": "end"}\n')
        late = time.monotonic() + self._timeout_s
        try:
            status = self._listen(late)
        except subprocess.TimeoutExpired:
            raise self.failure(
                f"{self._called} did not end within {self._timeout_s:.0f} s"
            ) from None
        if status != 0:
            raise self._last_words()

    def is_alive(self) -> bool:
        """Whether it can be asked more: it did not die and answered in time."""
        return not self._lost and self._process.poll() is None

    def _answer(self) -> dict[str, Any]:
        late = time.monotonic() + self._timeout_s
        while True:
            try:
                found = message(self._line(late))
            except Garbage as garbage:
                raise self._no_answer(str(garbage)) from None
            if "step" not in found:
                return found
            self._step = str(found["step"])

    def _no_answer(self, what: str) -> AskFailed:
        self._lost = True
        return self.failure(f"{self._called} gave no answer{self._at_step()}: {what}", "crashed")

    def _listen(self, late: float) -> int:
        """Its status when it has ended. Raises TimeoutExpired."""
        assert self._process.stdout is not None
        readers: dict[Stream, Reader] = {self._process.stdout: self._printed.add}
        # What nobody waits for must not fill the socket either.
        readers[self._socket] = lambda chunk: None
        return child_output.listen(self._process, readers, lambda: late)

    def _line(self, late: float) -> bytes:
        while not self._unread:
            if not self._read(late):
                self._lost = True
                told = f"no answer from {self._called} within {self._timeout_s:.0f} s"
                raise self.failure(told + self._at_step(","), "timed-out")
            if not self._unread and self._socket not in self._streams:
                raise self._last_words()
        return self._unread.popleft()

    def _read(self, late: float) -> bool:
        """Whether anything came before that time."""
        left = late - time.monotonic()
        return left > 0 and self._streams.read(left)

    def _at_step(self, comma: str = "") -> str:
        return f"{comma} at step {self._step!r}" if self._step else ""

    def _last_words(self) -> AskFailed:
        try:
            self._listen(time.monotonic() + 5)
        except subprocess.TimeoutExpired:
            return self.failure(f"{self._called} fell silent", "crashed")
        status = self._process.returncode
        name = signal_name(status)
        lines = self._printed.text().split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        told = f"{self._called} ended{self._at_step()}: {name or f'exit status {status}'}"
        return self.failure(told + (f": {last}" if last else ""), "crashed", "", name)


def starting(
    place: Environment,
    timeout_s: float,
    *options: str,
    variables: Mapping[str, str] | None = None,
) -> Callable[[Path], Worker]:
    """Starts plain workers of that environment, each for a folder of its own. `variables` are set
    there beside this process's own."""
    environment = {**os.environ, **variables} if variables else None
    return lambda folder: Worker(
        lambda fd: command(place, fd, *options), timeout_s, environment=environment
    )


class Stopped(Exception):  # noqa: N818  (a request, not an error)
    """A signal asked to stop."""

    def __init__(self, number: int) -> None:
        self.number = number


@contextmanager
def stoppable() -> Iterator[None]:
    """SIGINT, SIGTERM and SIGHUP raise Stopped, so that the worker at hand is ended and results
    kept. A SIGHUP that is ignored, as under nohup, stays so."""

    def stop(number: int, _: object) -> None:
        raise Stopped(number)

    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
