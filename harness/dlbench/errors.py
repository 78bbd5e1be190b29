"""What goes wrong on the way to or from the person at the command line."""

from __future__ import annotations


class BadInput(ValueError):  # noqa: N818  (it is the input that is bad, not the program)
    """Bad usage or bad input: one line that names what was wrong; exit status 2."""


def first_line(error: BaseException | str) -> str:
    """The first line of an error's text that says something; the type's name where none does."""
    lines = (line.strip() for line in str(error).splitlines())
    return next((line for line in lines if line), type(error).__name__)


def os_reason(error: OSError) -> str:
    """What the system said, without errno or path: "No space left on device"."""
    return error.strerror or first_line(error)


def os_line(place: object, error: OSError) -> str:
    """Where and why, once each: the core's own errors name their file."""
    return f"{place}: {error.strerror}" if error.strerror else first_line(error)
