"""A process that rules run in: started, listened to, and ended."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from dlbench.errors import signal_name

CHILD = Path(__file__).with_name("child.py")
LONGEST_TAIL = 4000
#: What an import may take on a busy machine.
START_S = 120.0


@dataclass
class Ran:
    """What one process said, and how it ended."""

    said: list[dict[str, Any]] = field(default_factory=list)
    status: int = 0
    hung: bool = False
    tail: str = ""

    def word(self, key: str) -> Any:
        """The last value said under a key."""
        return next((line[key] for line in reversed(self.said) if key in line), None)

    @property
    def signal(self) -> str:
        """ "SIGSEGV", or nothing."""
        return "" if self.hung else signal_name(self.status)

    @property
    def how(self) -> str:
        """How it ended, in words."""
        if self.hung:
            return "no answer"
        return f"killed by {self.signal}" if self.signal else f"exit status {self.status}"


def telling_line(tail: str) -> str:
    """The line of what a dying process printed that says most."""
    lines = [line.strip() for line in tail.splitlines() if line.strip()]
    for word in ("what():", "Fatal Python error", "Error", "abort", "planted"):
        for line in lines:
            if word in line:
                return f": {line[:160]}"
    return ""


def run(python: str, request: str, timeout_s: float) -> Ran:
    """One process to its end; killed where it says nothing for that long."""
    read, write = os.pipe()
    ran = Ran()
    with tempfile.TemporaryFile() as errors, os.fdopen(read, "rb") as wire:
        command = [python, str(CHILD), str(write), request]
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
            pass_fds=(write,),
            start_new_session=True,
        )
        os.close(write)
        try:
            _listen(wire, ran, timeout_s)
            ran.status = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            ran.hung = True
        finally:
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                ran.status = process.wait()
        size = errors.seek(0, os.SEEK_END)
        errors.seek(max(0, size - LONGEST_TAIL))
        ran.tail = errors.read().decode("utf-8", "replace").strip()
    return ran


def _listen(wire: BinaryIO, ran: Ran, timeout_s: float) -> None:
    """Lines until the other side closes. Raises TimeoutExpired after that long a silence."""
    buffer = b""
    with selectors.DefaultSelector() as selector:
        selector.register(wire, selectors.EVENT_READ)
        heard = time.monotonic()
        while True:
            patience = timeout_s if ran.word("loaded") is not None else max(timeout_s, START_S)
            if not selector.select(max(0.0, heard + patience - time.monotonic())):
                raise subprocess.TimeoutExpired("child", timeout_s)
            chunk = os.read(wire.fileno(), 65536)
            if not chunk:
                return
            heard = time.monotonic()
            buffer += chunk
            *lines, buffer = buffer.split(b"\n")
            ran.said += [json.loads(line) for line in lines]
            if ran.said and ran.said[-1].get("end"):
                return
