"""A process that rules run in: started, listened to, and ended."""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dlbench import child_output
from dlbench.check.wire import Wire
from dlbench.child_output import Garbage, Reader, Stream, Tail
from dlbench.errors import signal_name

CHILD = Path(__file__).with_name("child.py")
LONGEST_TAIL = 4000
#: What an import may take on a busy machine.
START_S = 120.0


@dataclass
class Ran:
    """What one process wrote, and how it ended."""

    wire: Wire
    status: int = 0
    hung: bool = False
    garbage: str = ""  #: what it wrote that is no message; it was killed for that
    tail: str = ""

    @property
    def signal(self) -> str:
        """ "SIGSEGV", or nothing where it did not end by itself."""
        return "" if self.hung or self.garbage else signal_name(self.status)

    @property
    def is_bad_end(self) -> bool:
        """Whether it did not end as an interpreter does when all is well."""
        return self.status != 0 or self.hung

    @property
    def how(self) -> str:
        """How it ended, in words."""
        if self.garbage:
            return self.garbage
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


def run(python: str, request: dict[str, Any], timeout_s: float) -> Ran:
    """One process to its end; killed where it says nothing for that long, or what is no message."""
    ran = Ran(Wire(request["rules"]))
    read, write = os.pipe()
    with os.fdopen(read, "rb") as messages:
        try:
            process = subprocess.Popen(
                [python, str(CHILD), str(write), json.dumps(request)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=(write,),
                start_new_session=True,
            )
        finally:
            os.close(write)
        tail = Tail(LONGEST_TAIL)
        heard = time.monotonic()

        def hear(chunk: bytes) -> None:
            nonlocal heard
            if ran.wire.add(chunk):
                heard = time.monotonic()

        def until() -> float:
            patience = timeout_s if ran.wire.version is not None else max(timeout_s, START_S)
            return heard + patience

        assert process.stdout is not None
        readers: dict[Stream, Reader] = {messages: hear, process.stdout: tail.add}
        try:
            child_output.listen(process, readers, until)
        except subprocess.TimeoutExpired:
            ran.hung = True
        except Garbage as garbage:
            ran.garbage = str(garbage)
        finally:
            child_output.end(process)
        ran.status = process.returncode
    ran.tail = tail.text().strip()
    return ran
