"""One line of the table: the planted fault, and the result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """`good` is None where it was not tested, or only in part: something was missing, or noise hid
    it; `found` then has the reason.
    """

    planted: str
    found: str
    good: bool | None
    details: tuple[str, ...] = ()  #: one line for each miss


@dataclass(frozen=True)
class Setting:
    """The number of repetitions, and the folder for files."""

    folder: Path
    short: bool
    times: int  #: repetitions of each fault
    seed: int


#: A trial, which makes one row or several.
Trial = Callable[[Setting], list[Row]]
