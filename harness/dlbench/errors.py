"""Errors in input and output, and their one-line messages."""

from __future__ import annotations

import errno
import signal
from pathlib import Path


class BadInput(ValueError):  # noqa: N818  (it is the input that is bad, not the program)
    """Bad usage or bad input: one line that names what was wrong; exit status 2."""


def first_line(error: BaseException | str) -> str:
    """The first line of an error's text with content; the type's name where it has none."""
    lines = (line.strip() for line in str(error).splitlines())
    return next((line for line in lines if line), type(error).__name__)


def last_line(text: str) -> str:
    """The last line that is not blank, stripped; empty where there is none."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def encodable(text: str) -> str:
    """The text with lone surrogates escaped: a library's text may have them, but no file can."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def signal_name(status: int) -> str:
    """What ended a process, by its status as of `subprocess`: "SIGSEGV", "signal 40" where it has
    no name, or nothing where it ended by itself."""
    if status >= 0:
        return ""
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"


def require_file(path: Path) -> None:
    """Raises OSError if the path exists and is not a file: opening a FIFO may block forever."""
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "is not a file")


def os_reason(error: OSError) -> str:
    """The system's message, without errno or path: "No space left on device"."""
    return error.strerror or first_line(error)


def os_line(place: object, error: OSError) -> str:
    """ "PLACE: REASON"; errors of the core name their file already."""
    return f"{place}: {error.strerror}" if error.strerror else first_line(error)
