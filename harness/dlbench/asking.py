"""A worker outside the fleet, asked one request at a time: for what is counted or traced."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from dlbench.environments.environment import Environment
from dlbench.errors import signal_name

WORKER = Path(__file__).with_name("worker_main.py")
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
    """One process, its files in `folder`. A context: it ends with the block, whatever happens.

    `wrapped` makes its command from a file descriptor; `called` is what it is called where it
    fails; its failures are of the type `failure`.
    """

    failure: type[AskFailed] = AskFailed

    def __init__(
        self,
        folder: Path,
        wrapped: Callable[[int], Sequence[str]],
        timeout_s: float,
        called: str = "the worker",
        environment: Mapping[str, str] | None = None,
        before: Callable[[], None] | None = None,
    ) -> None:
        self._timeout_s, self._called = timeout_s, called
        self._buffer = b""
        self._step, self._late = "", False
        ours, theirs = socket.socketpair()
        self._socket = ours
        with theirs, (folder / "stderr").open("wb") as said:
            self._process = subprocess.Popen(
                wrapped(theirs.fileno()),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                env=environment,
                preexec_fn=before,
                start_new_session=True,
            )
        self._said = folder / "stderr"

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
        # Of its own session, so this ends its children too.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._socket.close()

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer's body. Raises `failure` for an error, a death, or a deadline passed."""
        try:
            self._socket.sendall(json.dumps(request).encode() + b"\n")
        except OSError:
            raise self._last_words() from None
        reply = self._answer()
        if "error" in reply:
            error = reply["error"]
            words = [error.get("exception", ""), error.get("reason", "")]
            told = ": ".join(word for word in words if word)
            raise self.failure(told, str(error.get("outcome", "")), words[0])
        body: dict[str, Any] = reply["ok"]
        return body

    def finish(self) -> None:
        """Lets it end by itself, so that what its libraries and tools do then is done. Raises
        `failure` where it does not."""
        with contextlib.suppress(OSError):
            self._socket.sendall(b'{"do": "end"}\n')
        try:
            status = self._process.wait(timeout=self._timeout_s)
        except subprocess.TimeoutExpired:
            raise self.failure(
                f"{self._called} did not end within {self._timeout_s:.0f} s"
            ) from None
        if status != 0:
            raise self._last_words()

    def is_alive(self) -> bool:
        """Whether it can be asked more: it did not die and answered in time."""
        return not self._late and self._process.poll() is None

    def _answer(self) -> dict[str, Any]:
        until = time.monotonic() + self._timeout_s
        while True:
            line = self._line(until)
            message: dict[str, Any] = json.loads(line)
            if "step" not in message:
                return message
            self._step = str(message["step"])

    def _line(self, until: float) -> bytes:
        while b"\n" not in self._buffer:
            self._socket.settimeout(max(until - time.monotonic(), 0.001))
            try:
                got = self._socket.recv(1 << 16)
            except TimeoutError:
                self._late = True
                told = f"no answer from {self._called} within {self._timeout_s:.0f} s"
                raise self.failure(told + self._at_step(","), "timed-out") from None
            except OSError:
                got = b""
            if not got:
                raise self._last_words()
            self._buffer += got
        line, self._buffer = self._buffer.split(b"\n", 1)
        return line

    def _at_step(self, comma: str = "") -> str:
        return f"{comma} at step {self._step!r}" if self._step else ""

    def _last_words(self) -> AskFailed:
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return self.failure(f"{self._called} fell silent", "crashed")
        status = self._process.returncode
        name = signal_name(status)
        lines = self._said.read_text(encoding="utf-8", errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        told = f"{self._called} ended{self._at_step()}: {name or f'exit status {status}'}"
        return self.failure(told + (f": {last}" if last else ""), "crashed", "", name)


def starting(place: Environment, timeout_s: float, *options: str) -> Callable[[Path], Worker]:
    """Starts plain workers of that environment, each for a folder of its own."""
    return lambda folder: Worker(folder, lambda fd: command(place, fd, *options), timeout_s)


class Stopped(Exception):  # noqa: N818  (a request, not an error)
    """A signal asked to stop."""

    def __init__(self, number: int) -> None:
        self.number = number


@contextmanager
def stoppable() -> Iterator[None]:
    """SIGINT and SIGTERM raise Stopped, so that the worker at hand is ended and results kept."""

    def stop(number: int, _: object) -> None:
        raise Stopped(number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
