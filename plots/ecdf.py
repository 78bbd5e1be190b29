"""Spread of the rounds: one curve for each cell, one panel for each consumer."""

from __future__ import annotations

import math
from statistics import median

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from dlbench import values
from dlbench.document import Document, Measured

from . import choosing, library_styles, lines
from .drawing import duration_tick
from .library_styles import Style
from .rounds import Panel, panels, prepare, rounds
from .sheet import sheet
from .sheet_key import producer_keys

LEAST_ROOM = 1.15  # factor of the time axis beyond the fastest and the slowest round
MOST_TICKS = 5


def figure(document: Document) -> Figure:
    """The figure: the share of a cell's rounds up to each time, on the clock `call`."""
    found, cells_text = panels(document)
    producers = choosing.in_order((name for p in found for name in p.entries), choosing.YARDSTICK)
    styles = library_styles.of_all(producers)
    notes = ["one curve for each cell: the share of its rounds up to each time; mark: the median"]
    subtitle = (
        f"share of the rounds over the time of one exchange \u00b7 {cells_text}" if found else ""
    )
    made = sheet("Spread of the rounds", subtitle, len(found), producer_keys(styles),
                 (notes if found else []) + choosing.provenance(document))  # fmt: skip
    times = [ns for panel in found for entry in panel.entries.values() for ns in _pooled(entry)]
    for panel, place in zip(found, made.places, strict=True):
        _draw(place.axes, panel, styles, (min(times) / LEAST_ROOM, max(times) * LEAST_ROOM))
        place.hide_inner_labels()
    return made.figure


def _pooled(entry: Measured) -> list[float]:
    return sorted(ns for worker in rounds(entry) for ns in worker)


def _draw(axes: Axes, panel: Panel, styles: dict[str, Style], limits: tuple[float, float]) -> None:
    prepare(axes, panel)
    axes.set(xscale="log", xlim=limits, ylim=(0, 1.03))
    axes.xaxis.set_major_locator(FixedLocator(_ticks(limits)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda ns, _: duration_tick(ns)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(FixedLocator([0, 0.25, 0.5, 0.75, 1]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:.0f} %"))
    for producer, entry in panel.entries.items():
        look, times = styles[producer], _pooled(entry)
        if not times:
            continue
        shares = [i / len(times) for i in range(len(times) + 1)]
        dashed = lines.COPIED if entry.outcome in values.COPIED else "-"
        axes.step([times[0], *times], shares, where="post", color=look.color,
                  linewidth=lines.WIDTH, linestyle=dashed)  # fmt: skip
        axes.plot([median(times)], [0.5], marker=look.marker, markersize=lines.MARK + 0.6,
                  color=look.color, linestyle="none")  # fmt: skip


def _ticks(limits: tuple[float, float]) -> list[float]:
    low, high = math.floor(math.log10(limits[0])), math.ceil(math.log10(limits[1]))
    for steps in ((1, 2, 5), (1, 3), (1,)):
        ticks = [step * 10.0**e for e in range(low, high + 1) for step in steps]
        ticks = [tick for tick in ticks if limits[0] <= tick <= limits[1]]
        if len(ticks) <= MOST_TICKS:
            break
    return ticks[:: math.ceil(len(ticks) / MOST_TICKS) or 1]
