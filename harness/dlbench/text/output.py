"""All output to standard output and standard error; `ruff` forbids `print` elsewhere. Foreign text
is made safe here: escape sequences, hidden characters and characters that the stream cannot encode
are spelled out.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable
from typing import Any, TextIO

import rich.console
from rich.text import Text
from rich.theme import Theme

from dlbench.text.escaping import log_line, printable_lines
from dlbench.text.layout import UNCUT


def prepare() -> None:
    """Makes both streams spell out characters that they cannot encode, instead of raising."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


#: The colors by name. A terminal's theme defines its 16 colors, and yellow and cyan are often too
#: light for a light background. These colors are readable on white and on black.
COLORS = {
    "red": "color(160)",
    "yellow": "color(136)",
    "green": "color(28)",
    "cyan": "color(31)",
    "magenta": "color(127)",
}


class Console(rich.console.Console):
    """A terminal on which each text is one line, shown as it is: no markup, no emoji codes.

    Without a terminal no line is cut, unless $COLUMNS sets a width.
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
    """The text with invisible characters spelled out. If it changes, the styles of its parts are
    lost."""
    if isinstance(shown, Text):
        line = log_line(shown.plain)
        return shown if line == shown.plain else Text(line, style=shown.style)
    return log_line(shown) if isinstance(shown, str) else shown


def html(lines: Iterable[Text]) -> str:
    """The lines as HTML, with their colors."""
    console = Console(io.StringIO())
    console.record, console.width = True, UNCUT
    for line in lines:
        console.print(line, soft_wrap=True)
    return console.export_html(inline_styles=True, code_format="<pre>{code}</pre>")


def print_line(line: object = "") -> None:
    """One line on standard output."""
    sys.stdout.write(f"{log_line(str(line))}\n")


def print_error(line: object) -> None:
    """One line on standard error."""
    sys.stderr.write(f"{log_line(str(line))}\n")


def is_terminal() -> bool:
    """Is standard output a terminal?"""
    return sys.stdout.isatty()


def write_bytes(data: bytes) -> None:
    """Writes a binary file to standard output, which must not be a terminal."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def write_text(text: str) -> None:
    """Writes a text file to standard output, in UTF-8 as --output does."""
    text = printable_lines(text, sys.maxsize)
    sys.stdout.flush()
    data = getattr(sys.stdout, "buffer", None)
    if data is None:
        sys.stdout.write(text)
    else:
        data.write(text.encode())
        data.flush()
