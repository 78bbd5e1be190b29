"""Errors in input and output, and their one-line messages."""

from __future__ import annotations

import errno
import signal
import sys
from pathlib import Path
from typing import Any

LARGEST_TOML = 1 << 20  #: bytes


class BadInput(ValueError):  # noqa: N818  (it is the input that is bad, not the program)
    """Bad usage or bad input: one line that names the error; exit status 2."""


def first_line(error: BaseException | str) -> str:
    """The first non-empty line of an error's text; the type's name if the text is empty. BadInput
    is one line: a line feed is of a foreign name in it, which is escaped where it is shown."""
    if isinstance(error, BadInput):
        return str(error)
    lines = (line.strip() for line in str(error).splitlines())
    return next((line for line in lines if line), type(error).__name__)


def marked_line(text: str, mark: str) -> str:
    """The last line that begins with the mark, or nothing: libraries may print, too."""
    return next((line for line in reversed(text.splitlines()) if line.startswith(mark)), "")


def last_line(text: str) -> str:
    """The last line that is not blank, stripped; empty where there is none."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def encodable(text: str) -> str:
    """The text with lone surrogates escaped: a library's text may have them, but no file can."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def signal_name(status: int) -> str:
    """The signal that ended a process, from its status as of `subprocess`: "SIGSEGV", or "signal
    40" if it has no name; empty if no signal ended it."""
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


def read_file(path: Path, most: int) -> bytes:
    """Raises OSError for what is not a file, and for one of more than `most` bytes."""
    require_file(path)
    if path.stat().st_size > most:
        raise OSError(errno.EFBIG, f"is larger than {most >> 10} KiB")
    return path.read_bytes()


def os_reason(error: OSError) -> str:
    """The system's message, without errno or path: "No space left on device"."""
    return error.strerror or first_line(error)


def os_line(place: object, error: OSError) -> str:
    """ "PLACE: REASON"; errors of the core name their file already."""
    return f"{place}: {error.strerror}" if error.strerror else first_line(error)


def read_toml(path: Path) -> dict[str, Any]:
    """Raises BadInput."""
    # Here, not above: a worker has no tomli.
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        found: dict[str, Any] = tomllib.loads(read_file(path, LARGEST_TOML).decode())
    except OSError as error:
        raise BadInput(f"cannot read {path}: {os_reason(error)}") from error
    except ValueError as error:  # no TOML, no UTF-8, or a number of thousands of digits
        raise BadInput(f"cannot read {path}: {first_line(error)}") from error
    except RecursionError as error:
        raise BadInput(f"cannot read {path}: it is nested too deeply") from error
    return found
