"""The legend below the scaling figure."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from dlbench import values

from . import lines
from .drawing import GREY, PAPER, text_width
from .scaling_panel import COPY_FLOOR, FLOOR, SLOPE, Panel

SMALL = 7.0  # points
ROW = 0.22  # inches
Key = tuple[Line2D, str]


def keys_of(panels: list[Panel], looks: dict[str, lines.Look]) -> list[Key]:
    """(line, text) of what occurs; positions come later."""
    keys = [(Line2D([], [], color=look.colour, marker=look.marker, markersize=lines.MARK + 0.6,
                    linewidth=lines.WIDTH), name) for name, look in looks.items()]  # fmt: skip
    entries = [entry for panel in panels for entry in panel.all_entries()]
    if any(e["outcome"] in values.COPIED for e in entries):
        line = Line2D([], [], color=GREY, linestyle=lines.COPIED, marker="o",
                      markersize=lines.MARK + 0.6, markerfacecolor=PAPER)  # fmt: skip
        keys.append((line, "copied"))
    if any(panel.floor_ns for panel in panels):
        keys.append((Line2D([], [], color=GREY, linestyle=FLOOR), "floor: an empty call"))
    slopes: dict[str, list[float]] = {}
    for panel in panels:
        for name, rate in panel.copy_floors.items():
            slopes.setdefault(name, []).append(rate)
    if slopes:
        line = Line2D([], [], color=SLOPE, linewidth=0.9, linestyle=COPY_FLOOR)
        told = (f"{name} {_rates(rates)} GB/s" for name, rates in slopes.items())
        keys.append((line, f"a plain copy: {', '.join(told)}"))
    return keys


def _rates(rates: list[float]) -> str:
    """Environments differ a little: from the lowest to the highest."""
    low, high = values.rate(min(rates)), values.rate(max(rates))
    return low if low == high else f"{low}..{high}"


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
