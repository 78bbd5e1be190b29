"""The one way to standard output and standard error; `ruff` refuses `print` and the like elsewhere.

What passes here may hold foreign text: no escape sequence, no hidden character and no letter that
the stream cannot encode gets through.
"""

from __future__ import annotations

import os
import sys
from typing import Any, TextIO

import rich.console
from rich.text import Text
from rich.theme import Theme

from dlbench.text.escaping import log_line, printable_lines
from dlbench.text.layout import UNCUT


def prepare() -> None:
    """Lets both streams spell out what they cannot encode, where they would raise."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


#: What the words for colors mean here. The 16 colors of a terminal are of its theme: its yellow and
#: cyan are often too light for a light background. These can be read on white and on black.
COLORS = {
    "red": "color(160)",
    "yellow": "color(136)",
    "green": "color(28)",
    "cyan": "color(31)",
    "magenta": "color(127)",
}


class Console(rich.console.Console):
    """A terminal on which each text is one line, shown as it is: no markup, no emoji codes.

    Without a terminal nothing is cut, unless $COLUMNS sets a width.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        super().__init__(
            file=stream, markup=False, emoji=False, highlight=False, theme=Theme(COLORS)
        )
        if not self.file.isatty() and "COLUMNS" not in os.environ:
            self.width = UNCUT

    def print(self, *objects: Any, **options: Any) -> None:
        super().print(*map(one_line, objects), **options)


def one_line(shown: Any) -> Any:
    """A text with nothing in it that a person cannot see. What is altered loses the styles of its
    parts."""
    if isinstance(shown, Text):
        line = log_line(shown.plain)
        return shown if line == shown.plain else Text(line, style=shown.style)
    return log_line(shown) if isinstance(shown, str) else shown


def say(line: object = "") -> None:
    """One line on standard output."""
    sys.stdout.write(f"{log_line(str(line))}\n")


def complain(line: object) -> None:
    """One line on standard error."""
    sys.stderr.write(f"{log_line(str(line))}\n")


def hand_out(text: str) -> None:
    """A whole file on standard output, in UTF-8 as --output would write it."""
    text = printable_lines(text, sys.maxsize)
    sys.stdout.flush()
    data = getattr(sys.stdout, "buffer", None)
    if data is None:
        sys.stdout.write(text)
    else:
        data.write(text.encode())
        data.flush()
