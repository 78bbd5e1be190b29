"""The key beside and below the matrix: the color bar and the marks' legend."""

from __future__ import annotations

import math

from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from dlbench import values
from dlbench.document import Entry, Measured

from . import cells
from .drawing import PALE, SMALL, duration_tick, text_width
from .ink import INK, PAPER

ROW = 0.24  # inches


def color_bar(result: Figure, norm: LogNorm, place: tuple[float, float, float, float]) -> None:
    """`place` in inches: left, bottom, width, height."""
    width, height = result.get_size_inches()
    x, y, wide, high = place
    axes = result.add_axes((x / width, y / height, wide / width, high / height))
    bar = result.colorbar(ScalarMappable(norm, cells.COLORS), cax=axes)
    bar.outline.set_visible(False)
    axes.yaxis.set_major_locator(FixedLocator(_ticks(norm, int(high / 0.2))))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda ns, _: duration_tick(ns)))
    axes.tick_params(labelsize=SMALL, length=2, width=0.5)


def _ticks(norm: LogNorm, most: int) -> list[float]:
    low, high = float(norm.vmin or 1), float(norm.vmax or 10)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1, 2, 5), (1,)):
        ticks = [step * 10.0**decade for decade in decades for step in steps]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if 2 <= len(ticks) <= most:
            return ticks
    return [low, high]


def legend_items(shown: list[Entry]) -> list[tuple[str, str]]:
    """(sign, text) for each sign in the picture."""
    measured = [entry for entry in shown if isinstance(entry, Measured)]
    marks = {mark for entry in measured for mark in "".join(values.marks(entry))}
    items = [("outline", "same library on both sides")] if any(
        entry.producer == entry.consumer for entry in shown) else []  # fmt: skip
    items += [("flag", "copied; without it, memory is shared")] if "*" in marks else []
    items += [("!", values.LOSES_TEXT)] if "!" in marks else []
    items += [("^", values.with_signs(values.WIDE_TEXT))] if "^" in marks else []
    items += [("?", "not proven: shared or copied")] if "?" in marks else []
    items += [("~", values.NEAR_FLOOR_TEXT)] if "~" in marks else []
    items += [("hatch", "outcome without a number")] if len(measured) < len(shown) else []
    return items


def _legend_width(text: str) -> float:
    return 0.38 + text_width(text, SMALL + 1) + 0.25


def legend_lines(items: list[tuple[str, str]], room: float) -> int:
    lines, left = (1 if items else 0), room
    for _, text in items:
        if _legend_width(text) > left and left < room:
            lines, left = lines + 1, room
        left -= _legend_width(text)
    return lines


def draw_legend(
    canvas: Axes, items: list[tuple[str, str]], left: float, top: float, room: float
) -> None:
    """Draws the items in rows from the top left corner, `room` wide."""
    x, y = left, top - 0.12
    for sign, text in items:
        if x > left and x - left + _legend_width(text) > room:
            x, y = left, y - ROW
        hatch = cells.HATCH if sign == "hatch" else None
        if sign in ("outline", "flag", "hatch"):
            canvas.add_patch(Rectangle(
                (x, y - 0.075), 0.28, 0.15, hatch=hatch,
                linewidth=cells.OUTLINE if sign == "outline" else 0.0,
                facecolor=cells.NO_NUMBER if sign != "outline" else PAPER,
                edgecolor=INK if sign == "outline" else PALE))  # fmt: skip
        else:
            canvas.text(x + 0.2, y, sign, fontsize=SMALL + 2, ha="center", va="center")
        if sign == "flag":
            canvas.add_patch(cells.flag(x + 0.28, y + 0.075, INK))
        canvas.text(x + 0.38, y, text, fontsize=SMALL + 1, va="center")
        x += _legend_width(text)
