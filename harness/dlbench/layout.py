"""Plain text in columns."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

#: Wider than any line: what goes into a pipe or a file is not cut.
UNCUT = 100_000
#: What $COLUMNS may ask for.
NARROWEST, WIDEST = 20, 10_000


def forget_bad_columns() -> None:
    """What $COLUMNS asks for is not heeded where no terminal is so wide."""
    asked = os.environ.get("COLUMNS", "")
    if not re.fullmatch("[0-9]{1,9}", asked) or not NARROWEST <= int(asked) <= WIDEST:
        os.environ.pop("COLUMNS", None)


def columns(rows: Sequence[Sequence[str]], right: Iterable[int] = (), gap: int = 2) -> list[str]:
    """Lines with each column as wide as its widest text; those in `right` are right-aligned."""
    if not rows:
        return []
    flush_right = set(right)
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        (" " * gap)
        .join(
            text.rjust(width) if i in flush_right else text.ljust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        .rstrip()
        for row in rows
    ]


def fold(parts: Iterable[str], width: int, gap: str = "  ", indent: str = "  ") -> list[str]:
    """Parts side by side; a line that is full goes on, indented, before a part, never inside."""
    lines: list[str] = []
    for part in parts:
        if lines and len(lines[-1]) + len(gap) + len(part) <= width:
            lines[-1] += gap + part
        else:
            lines.append(indent + part if lines else part)
    return [shorten(line, width) for line in lines]


def count(number: int, noun: str) -> str:
    """ "1 cell", "2 cells"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def at_the_right(text: str, width: int) -> str:
    """The text at the end of a line; at its beginning where a line has no end."""
    return text.rjust(width) if width < UNCUT else text


def shorten(text: str, width: int) -> str:
    """The text, cut with an ellipsis where it is wider than that."""
    return text if len(text) <= width else text[: max(width - 1, 0)].rstrip() + "\u2026"


def listing(words: Iterable[str], at_most: int = 6) -> str:
    """ "a, b, c and 4 more"."""
    all_words = list(words)
    if len(all_words) <= at_most:
        return ", ".join(all_words)
    return f"{', '.join(all_words[:at_most])} and {len(all_words) - at_most} more"
