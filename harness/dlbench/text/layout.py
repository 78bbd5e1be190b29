"""Plain text in columns of a terminal; an East Asian letter is two columns wide.

Widths are rich's. Its `Table` makes the same lines, but is a hundred times slower, and `show`
prints a row for each exchange of a run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterable, Mapping, Sequence

from rich.cells import cell_len, chop_cells, set_cell_size

#: Wider than any line: output to a pipe or a file is not cut.
UNCUT = 100_000
#: The range of $COLUMNS.
NARROWEST, WIDEST = 20, 10_000


def forget_bad_columns() -> None:
    """Unsets $COLUMNS if no terminal can have its value."""
    requested = os.environ.get("COLUMNS", "")
    if not re.fullmatch("[0-9]{1,9}", requested) or not NARROWEST <= int(requested) <= WIDEST:
        os.environ.pop("COLUMNS", None)


def pad(text: str, width: int, right: bool = False) -> str:
    """The text with blanks up to that width, before it if it is right-aligned."""
    blank = " " * (width - cell_len(text))
    return blank + text if right else text + blank


def columns(rows: Sequence[Sequence[str]], right: Iterable[int] = ()) -> list[str]:
    """Lines with each column as wide as its widest text; those in `right` are right-aligned."""
    if not rows:
        return []
    flush_right = set(right)
    widths = [max(cell_len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = enumerate(zip(row, widths, strict=True))
        padded = (pad(text, width, right=i in flush_right) for i, (text, width) in cells)
        lines.append("  ".join(padded).rstrip())
    return lines


def fitting(
    heads: Iterable[str],
    rows: Sequence[Mapping[str, str]],
    width: int,
    right: Container[str],
    spare: Iterable[str] = (),
) -> tuple[list[str], list[str]]:
    """The columns that are shown, and the lines: a head, then one line a row.

    Columns without a text leave. Then those in `spare` leave, in that order, until the lines fit.
    """
    shown = [head for head in heads if any(row[head] for row in rows)]
    lines: list[str] = []
    for left_out in ("", *spare):
        shown = [head for head in shown if head != left_out]
        flush_right = [i for i, head in enumerate(shown) if head in right]
        lines = columns([shown, *([row[head] for head in shown] for row in rows)], flush_right)
        if max(map(cell_len, lines)) <= width:
            break
    return shown, lines


def fold(parts: Iterable[str], width: int, gap: str = "  ", indent: str = "  ") -> list[str]:
    """Lines of parts side by side. A part that does not fit begins a new, indented line; parts are
    not broken."""
    return [shorten(line, width) for line in _fill(parts, width, gap, indent)]


def wrap(text: str, width: int, *, whole: bool = False) -> list[str]:
    """Lines of words. A word wider than a line is broken, or with `whole` is wider than the
    line."""
    words = text.split()
    if not whole:
        words = [part for word in words for part in chop_cells(word, max(width, 2))]
    return _fill(words, width, " ", "")


def _fill(parts: Iterable[str], width: int, gap: str, indent: str) -> list[str]:
    lines: list[str] = []
    for part in parts:
        if lines and cell_len(lines[-1] + gap + part) <= width:
            lines[-1] += gap + part
        else:
            lines.append(indent + part if lines else part)
    return lines


def count(number: int, noun: str) -> str:
    """ "1 cell", "2 cells"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def at_the_right(text: str, width: int) -> str:
    """The text, right-aligned; unchanged if lines have no limit."""
    return pad(text, width, right=True) if width < UNCUT else text


def shorten(text: str, width: int) -> str:
    """The text, cut with an ellipsis if it is wider than that."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(width - 1, 0)).rstrip() + "\u2026"


def listing(words: Iterable[str], at_most: int = 6) -> str:
    """ "a, b, c and 4 more"."""
    all_words = list(words)
    if len(all_words) <= at_most:
        return ", ".join(all_words)
    return f"{', '.join(all_words[:at_most])} and {len(all_words) - at_most} more"
