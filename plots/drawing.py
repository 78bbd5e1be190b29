"""Shared by all figures: the style, the measures of text, and writing the files."""

from __future__ import annotations

import bisect
import contextlib
import functools
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.text import Text
from matplotlib.textpath import TextToPath

from dlbench import values, writing
from dlbench.text.escaping import log_line, printable, printable_lines

from .ink import INK, PAPER

DPI = 160
MARGIN, LINE = 0.25, 0.17  #: inches: around a page, and of a note
SMALL = 7.0  #: points, of notes
LONGEST = 1000  #: maximum number of characters of a text, which the widest figure can show
GREY = "#6b6b6b"
PALE = "#d9d9d9"

#: Text becomes paths, so that a figure looks the same everywhere. The salt makes the ids of two
#: drawings of the same data equal.
STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "svg.fonttype": "path",
    "svg.hashsalt": "dlbench",
    "text.color": INK,
    "text.parse_math": False,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "hatch.linewidth": 0.6,
    "figure.facecolor": PAPER,
}


@contextlib.contextmanager
def style() -> Iterator[None]:
    """Only dlbench's style: a user's matplotlibrc must not change a picture."""
    with mpl.rc_context(), warnings.catch_warnings():
        # Characters that the font does not have are drawn as boxes.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        yield


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Writes NAME.svg and NAME.png atomically, without dates, versions, and characters that are
    invalid in SVG."""
    for text in figure.findobj(Text):
        lines = printable_lines(text.get_text(), LONGEST).split("\n")
        text.set_text("\n".join(map(log_line, lines)))
    svg, png = folder / f"{name}.svg", folder / f"{name}.png"
    writing.write(svg, lambda out: figure.savefig(out, format="svg", metadata={"Date": None}))
    writing.write(png, lambda out: figure.savefig(out, format="png", dpi=DPI, backend="agg",
                                                  metadata={"Software": None}))  # fmt: skip
    return [svg, png]


def inches(figure: Figure) -> Axes:
    """Invisible axes over the whole figure, with inches as the unit."""
    width, height = figure.get_size_inches()
    canvas = figure.add_axes((0, 0, 1, 1))
    canvas.set(xlim=(0, width), ylim=(0, height))
    canvas.set_axis_off()
    return canvas


@dataclass(frozen=True)
class Page:
    """A figure with a title above and notes below. The body between them is from `top` down to
    `bottom`, in inches."""

    figure: Figure
    canvas: Axes
    top: float
    bottom: float

    def add_axes(self, x: float, y: float, width: float, height: float) -> Axes:
        """Axes at a place in inches."""
        wide, high = self.figure.get_size_inches()
        return self.figure.add_axes((x / wide, y / high, width / wide, height / high))


def page(
    title: str,
    subtitle: str,
    width: float,
    heights: tuple[float, float, float],
    notes: list[str],
    nothing: str = "",
) -> Page:
    """`heights`: of the heading, the body and the key above the notes, in inches. `nothing`: text
    in place of an empty body."""
    note_lines = wrapped(notes, SMALL, width - 2 * MARGIN)
    heading, body, key = heights
    bottom = 0.12 + LINE * len(note_lines) + key
    height = heading + body + bottom
    figure = Figure(figsize=(width, height))
    canvas = inches(figure)
    canvas.text(MARGIN, height - 0.32, title, fontsize=14, weight="bold", va="center")
    canvas.text(MARGIN, height - 0.58, subtitle, fontsize=10, color=GREY, va="center")
    canvas.text(width / 2, bottom + body / 2, nothing, fontsize=12, color=GREY, ha="center",
                va="center")  # fmt: skip
    for index, line in enumerate(reversed(note_lines)):
        canvas.text(MARGIN, 0.12 + LINE * index, line, fontsize=SMALL, color=GREY, va="bottom")
    return Page(figure, canvas, height - heading, bottom)


@functools.lru_cache(maxsize=4096)
def text_width(text: str, points: float, weight: str = "normal") -> float:
    """The width of the text at that size, in inches."""
    font = FontProperties(family="DejaVu Sans", size=points, weight=weight)
    observed = printable(text, LONGEST)
    width, _, _ = TextToPath().get_text_width_height_descent(observed, font, ismath=False)
    return float(width) / 72


def fitting(text: str, points: float, room: float, least: float = 4.5) -> float:
    """The size, at most `points`, at which the text fits into so many inches."""
    return max(least, points * min(1.0, room / max(text_width(text, points), 1e-9)))


def shortened(text: str, points: float, room: float) -> str:
    """The text, cut with an ellipsis if it is wider than `room`, in inches."""
    if len(text) <= LONGEST and text_width(text, points) <= room:
        return text
    fits = bisect.bisect_left(
        range(min(len(text), LONGEST)),
        True,
        key=lambda end: text_width(text[: end + 1] + "\u2026", points) > room,
    )
    return text[:fits].rstrip() + "\u2026"


def wrapped(parts: list[str], points: float, room: float) -> list[str]:
    """Parts side by side in lines that fit into so many inches; a part is never broken."""
    lines: list[str] = []
    for part in parts:
        joined = f"{lines[-1]}  \u00b7  {part}" if lines else part
        if lines and text_width(joined, points) <= room:
            lines[-1] = joined
        else:
            lines.append(shortened(part, points, room))
    return lines


def duration_tick(nanoseconds: float) -> str:
    """A duration without trailing zeros: "1 us"."""
    number, unit = values.duration(nanoseconds).split()
    return f"{float(number):g} {unit}"
