"""The legend below a sheet of panels."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from . import lines
from .drawing import SMALL, text_width
from .library_styles import Style

ROW = 0.22  # inches
Key = tuple[Line2D, str]


def producer_keys(styles: dict[str, Style]) -> list[Key]:
    """(line, name) for each library; positions are set later."""
    return [(Line2D([], [], color=look.color, marker=look.marker, markersize=lines.MARK + 0.6,
                    linewidth=lines.WIDTH), name) for name, look in styles.items()]  # fmt: skip


def rows_of(keys: list[Key], room: float) -> list[list[tuple[Key, float]]]:
    """Keys with their offsets, folded into rows."""
    rows: list[list[tuple[Key, float]]] = []
    x = room
    for key in keys:
        wide = 0.42 + text_width(key[1], SMALL + 1) + 0.22
        if x + wide > room:
            rows.append([])
            x = 0.0
        rows[-1].append((key, x))
        x += wide
    return rows


def draw_keys(canvas: Axes, rows: list[list[tuple[Key, float]]], left: float, top: float) -> None:
    for index, row in enumerate(rows):
        y = top - ROW * (index + 0.5)
        for (line, text), offset in row:
            x = left + offset
            line.set_data([x, x + 0.17, x + 0.34], [y, y, y])
            line.set_markevery([1])
            canvas.add_line(line)
            canvas.text(x + 0.42, y, text, fontsize=SMALL + 1, va="center")
