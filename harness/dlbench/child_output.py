"""What child processes write, read while they run and kept within bounds.

A child may run a library's code, which may write anything into any descriptor, and without end.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from dlbench.errors import encodable

#: Most messages have some kilobytes.
LONGEST_LINE = 1 << 20
#: A process whose output another one holds open shows its end in its status alone.
LONGEST_WAIT_S = 0.05
CHUNK = 1 << 16
#: What may lie in a pipe when its writer has ended.
CHUNKS_IN_A_PIPE = 16

Reader = Callable[[bytes], None]


class Stream(Protocol):
    """A pipe or a socket."""

    def fileno(self) -> int: ...


class Garbage(Exception):  # noqa: N818  (a result, not a fault of the program)
    """A child wrote what is no message."""


class Tail:
    """The last bytes of a stream, however much goes through it."""

    def __init__(self, most: int = 1 << 16) -> None:
        self._most = most
        self._kept = bytearray()

    def add(self, chunk: bytes) -> None:
        self._kept += chunk
        # Cut only now and then, so that a flood costs one move for each `most` bytes.
        if len(self._kept) > 2 * self._most:
            del self._kept[: -self._most]

    def text(self) -> str:
        return bytes(self._kept[-self._most :]).decode("utf-8", "replace")


class Lines:
    """The lines of a stream."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._longest = longest
        self._rest = bytearray()

    def add(self, chunk: bytes) -> Iterator[bytes]:
        """Those that are complete with this chunk. Raises Garbage for an endless one."""
        begin, newline, last = chunk.rpartition(b"\n")
        if newline:
            yield from bytes(self._rest + begin).split(b"\n")
            self._rest.clear()
        self._rest += last
        if len(self._rest) > self._longest:
            raise Garbage(f"an endless line: {shown(bytes(self._rest[:61]))}")


def shown(line: bytes) -> str:
    """The start of a line that is no message, in quotes."""
    return ascii(line[:60].decode("latin-1")) + ("..." if len(line) > 60 else "")


def message(line: bytes) -> dict[str, Any]:
    """The JSON object in a line, its texts fit for a document. Raises Garbage."""
    try:
        found = _fit(json.loads(line))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Garbage(f"no message: {shown(line)}")
    return found


def _fit(value: Any) -> Any:
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, list):
        return [_fit(part) for part in value]
    if isinstance(value, dict):
        return {encodable(key): _fit(part) for key, part in value.items()}
    return value


class Streams:
    """Open streams of a child, each with the reader of its chunks."""

    def __init__(self, readers: Mapping[Stream, Reader]) -> None:
        self._selector = selectors.DefaultSelector()
        for stream, reader in readers.items():
            self._selector.register(stream.fileno(), selectors.EVENT_READ, reader)

    def __contains__(self, stream: Stream) -> bool:
        return stream.fileno() in self._selector.get_map()

    def __bool__(self) -> bool:
        return bool(self._selector.get_map())

    def read(self, wait_s: float) -> bool:
        """A chunk of each stream that has one within that time; whether any had, or ended.

        Raises what a reader raises.
        """
        ready = self._selector.select(max(wait_s, 0))
        for key, _ in ready:
            try:
                chunk = os.read(key.fd, CHUNK)
            except OSError:  # a socket whose other end is gone
                chunk = b""
            if not chunk:
                self._selector.unregister(key.fd)
            else:
                key.data(chunk)
        return bool(ready)

    def close(self) -> None:
        self._selector.close()


def listen(
    process: subprocess.Popen[bytes], readers: Mapping[Stream, Reader], until: Callable[[], float]
) -> int:
    """Feeds each stream to its reader until the process has ended; its status.

    A stream that a grandchild holds open is not waited for. Raises TimeoutExpired when the clock
    `time.monotonic` is past `until()`, and what a reader raises.
    """
    with contextlib.closing(Streams(readers)) as streams:
        while process.poll() is None:
            left = until() - time.monotonic()
            if left <= 0:
                raise subprocess.TimeoutExpired(process.args, 0)
            if streams:
                streams.read(min(left, LONGEST_WAIT_S))
            else:
                process.wait(left)
        for _ in range(CHUNKS_IN_A_PIPE):
            if not streams.read(0):
                break
    return process.returncode


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends a process that was started in a session of its own, and those that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


@dataclass(frozen=True)
class Ended:
    """The end of what both streams had, and the status; None: it was killed for being late."""

    out: str
    err: str
    status: int | None


def last_line(text: str) -> str:
    """The last line that is not blank, stripped; empty where there is none."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def run(command: Sequence[str], timeout_s: float) -> Ended:
    """One process to its end, killed after that long. Raises OSError where it cannot be started."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    out, err = Tail(LONGEST_LINE), Tail()
    status = None
    late = time.monotonic() + timeout_s
    try:
        readers: dict[Stream, Reader] = {process.stdout: out.add, process.stderr: err.add}
        status = listen(process, readers, lambda: late)
    except subprocess.TimeoutExpired:
        pass
    finally:
        end(process)
    return Ended(out.text(), err.text(), status)
