"""Makes failing standard streams harmless: closed, on a full disk, or without a reader. The command
ends as usual, except that output lost to a full disk is an error."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO, cast

from dlbench.errors import BadInput, os_reason


class Guarded:
    """A stream that continues into the null device once it fails.

    `lost` is raised where required output is lost.
    """

    def __init__(self, stream: Any, lost: str) -> None:
        self._stream, self._lost = stream, lost

    def write(self, text: Any) -> int:
        if isinstance(text, str) and not text:
            return 0  # click's probe; it ignores errors, and unbuffered a full disk is one
        try:
            return int(self._stream.write(text))
        except OSError as error:
            self._drop(error)
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            self._drop(error)

    @property
    def buffer(self) -> Guarded:
        return Guarded(self._stream.buffer, self._lost)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _drop(self, error: OSError) -> None:
        number = self._stream.fileno()
        reader_left = error.errno == errno.EPIPE or (
            # A terminal that was hung up.
            error.errno == errno.EIO and stat.S_ISCHR(os.fstat(number).st_mode)
        )
        # Buffered data would fail again when the process ends.
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, number)
        os.close(null)
        if self._lost and not reader_left:
            raise BadInput(f"{self._lost}: {os_reason(error)}") from error


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """In this context, writing to `sys.stdout` and `sys.stderr` does not raise OSError.

    Raises BadInput where standard output accepts no more; a failure of standard error cannot be
    reported.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # In this order each gets its own descriptor; otherwise the next opened file would get
            # it.
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115
    before = sys.stdout, sys.stderr
    sys.stdout = cast(TextIO, Guarded(sys.stdout, "cannot write to standard output"))
    sys.stderr = cast(TextIO, Guarded(sys.stderr, ""))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
