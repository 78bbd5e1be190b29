"""What goes wrong on the way to or from the person at the command line."""

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
    """A library's text may hold half of a surrogate pair, which no file may: it is spelled out."""
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
    """Raises OSError for what is there and is no file: opening a FIFO may never end."""
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "is no file")


def os_reason(error: OSError) -> str:
    """The system's message, without errno or path: "No space left on device"."""
    return error.strerror or first_line(error)


def os_line(place: object, error: OSError) -> str:
    """Where and why, once each: the core's own errors name their file."""
    return f"{place}: {error.strerror}" if error.strerror else first_line(error)
