"""Drift: the rounds in order, which show whether a cell became slower or faster.

One small panel for each pair, arranged like the matrix.
"""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from dlbench.document import Document, Measured

from . import choosing, drawing, library_styles
from .drawing import MARGIN, PALE, SMALL, shortened
from .rounds import Panel, panels, rounds

WIDEST = 3.0  # multiple of the median; rounds outside are drawn at the edge
NARROWEST = 1.1
ROOM = 1.1  # exponent of the outermost ratio, for space beyond it
LEFT, RIGHT, GAP = 1.35, 0.45, 0.08  # inches, as all measures here
HEADING = 0.95
WIDE, HIGH = 1.15, 0.42
LABEL = 8.5  # points
LEAST_APART = 0.25  #: of the scale, between two labels
TICKS = (1 / 3, 0.5, 0.8, 0.9, 1, 1.1, 1.25, 2, 3)


def figure(document: Document) -> Figure:
    """The figure: each round divided by its cell's median, on the clock `call`."""
    found, axes_text = panels(document)
    producers = choosing.in_order((name for p in found for name in p.entries), choosing.YARDSTICK)
    styles = library_styles.of_all(producers)
    width = max(LEFT + len(found) * (WIDE + GAP) + RIGHT, 6.0)
    notes = ["each round divided by its cell's median, in order; one line for each worker",
             f"rounds beyond {WIDEST:g}x are drawn at the edge"]  # fmt: skip
    body = max(len(producers) * (HIGH + GAP), 1.0)
    heading = f"rows: producers, columns: consumers \u00b7 {axes_text}" if found else ""
    page = drawing.page("Drift over the rounds", heading, width, (HEADING, body, 0.08),
                        (notes if found else []) + choosing.provenance(document),
                        "" if found else "nothing was measured")  # fmt: skip
    ends = _ends(found)
    for row, producer in enumerate(producers):
        y = page.top - row * (HIGH + GAP) - HIGH
        page.canvas.text(MARGIN, y + HIGH / 2, shortened(producer, LABEL, LEFT - MARGIN - 0.1),
                    fontsize=LABEL, va="center")  # fmt: skip
        last = 0  # column of the last panel of this row, whose scale is labeled
        for column, panel in enumerate(found):
            entry = panel.entries.get(producer)
            x = LEFT + column * (WIDE + GAP)
            if entry is not None or row == 0:
                axes = page.add_axes(x, y, WIDE, HIGH)
                _prepare(axes, ends, panel.title if row == 0 else "")
                last = column
            if entry is not None:
                _draw(axes, entry, styles[producer].color)
        page.figure.axes[-1].tick_params(labelright=last == len(found) - 1)
    return page.figure


def _ends(found: list[Panel]) -> tuple[float, float]:
    """The lowest and the highest ratio of all panels."""
    entries = [entry for panel in found for entry in panel.entries.values()]
    workers = ((e.real_time, worker) for e in entries for worker in rounds(e))
    ratios = [ratio for median, worker in workers for ratio in _ratios(worker, median)]
    return min([1 / NARROWEST, *ratios]), max([NARROWEST, *ratios])


def _ratios(times: list[float], median: float) -> list[float]:
    return [min(max(ns / median, 1 / WIDEST), WIDEST) for ns in times]


def _prepare(axes: Axes, ends: tuple[float, float], title: str) -> None:
    """Draws the common scale of all panels; it is labeled at the right end of a row."""
    low, high = ends[0] ** ROOM, ends[1] ** ROOM
    axes.set_title(shortened(title, LABEL, WIDE), fontsize=LABEL, weight="bold", loc="left", pad=4)
    axes.set(yscale="log", ylim=(low, high), xlim=(-0.03, 1.03), xticks=[])
    inside = [tick for tick in TICKS if low < tick < high and tick != 1]
    room = (high / low) ** LEAST_APART
    outer = {min(inside, default=1), max(inside, default=1)}
    shown = [1.0, *(tick for tick in sorted(outer) if max(tick, 1 / tick) >= room)]
    axes.yaxis.set_major_locator(FixedLocator(shown))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda ratio, _: f"{ratio:.2g}x"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.tick_right()
    axes.tick_params(labelsize=SMALL - 0.5, length=0, pad=2, labelright=False)
    for side in axes.spines.values():
        side.set_color(PALE)
    axes.axhline(1, color=PALE, linewidth=0.8)


def _draw(axes: Axes, entry: Measured, color: str) -> None:
    for worker in rounds(entry):
        ratios = _ratios(worker, entry.real_time)
        steps = max(len(ratios) - 1, 1)
        axes.plot([i / steps for i in range(len(ratios))], ratios, color=color, linewidth=0.9)
