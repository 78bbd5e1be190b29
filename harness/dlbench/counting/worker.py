"""A worker under valgrind, asked one request at a time."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from dlbench.counting import valgrind
from dlbench.counting.profile import Profile, read
from dlbench.environments.environment import Environment


class CountFailed(Exception):  # noqa: N818  (a result, not a fault of the program)
    """Why there is no count, in one line."""


class Worker:
    """One process in an environment, its files in `folder`. A context: it ends with the block,
    whatever happens."""

    def __init__(self, folder: Path, place: Environment, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._out = folder / "callgrind"
        self._passes = 0
        self._buffer = b""
        self._step, self._late = "", False
        ours, theirs = socket.socketpair()
        self._socket = ours
        with theirs, (folder / "stderr").open("wb") as said:
            self._process = subprocess.Popen(
                valgrind.command(self._out, place, theirs.fileno()),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                env=valgrind.environment(),
                preexec_fn=valgrind.settle_addresses,
                start_new_session=True,
            )
        self._said = folder / "stderr"

    def __enter__(self) -> Worker:
        try:
            self._answer()  # its greeting
        except BaseException:
            self._kill()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._kill()

    def _kill(self) -> None:
        # Of its own session, so this ends its children too.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._socket.close()

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer's body. Raises CountFailed for an error, a death, or a deadline passed."""
        try:
            self._socket.sendall(json.dumps(request).encode() + b"\n")
        except OSError:
            raise CountFailed(self._last_words()) from None
        reply = self._answer()
        if "error" in reply:
            error = reply["error"]
            words = [error.get("exception", ""), error.get("reason", "")]
            raise CountFailed(": ".join(word for word in words if word))
        body: dict[str, Any] = reply["ok"]
        return body

    def is_alive(self) -> bool:
        """Whether it can be asked more: it did not die and answered in time."""
        return not self._late and self._process.poll() is None

    def passed(self) -> Profile:
        """The profile of the latest `count`."""
        self._passes += 1
        path = self._out.with_name(f"{self._out.name}.{self._passes}")
        profile = read(path)
        path.unlink()
        return profile

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
                at = f", at step {self._step!r}" if self._step else ""
                told = f"no answer from valgrind within {self._timeout_s:.0f} s{at}"
                raise CountFailed(told) from None
            except OSError:
                got = b""
            if not got:
                raise CountFailed(self._last_words())
            self._buffer += got
        line, self._buffer = self._buffer.split(b"\n", 1)
        return line

    def _last_words(self) -> str:
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return "the worker under valgrind fell silent"
        status = self._process.returncode
        how = signal.Signals(-status).name if status < 0 else f"exit status {status}"
        lines = self._said.read_text(encoding="utf-8", errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        at = f" at step {self._step!r}" if self._step else ""
        return f"the worker under valgrind ended{at}: {how}" + (f": {last}" if last else "")
