"""The rounds in their order: whether a cell became slower or faster while it was measured."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from dlbench.document import Document

from . import choosing, lines, looks
from .drawing import GREY
from .looks import Look
from .rounds import Panel, panels, prepare, rounds
from .sheet import sheet
from .sheet_key import producer_keys

WIDEST = 3.0  # times the median; what is further out is drawn at the edge
NARROWEST = 1.1
ROOM = 1.1  # a power: beyond the outermost round


def figure(document: Document) -> Figure:
    """Each round over its cell's median; the clock `call`."""
    found, said = panels(document)
    producers = choosing.in_order((name for p in found for name in p.entries), choosing.YARDSTICK)
    styles = looks.of_all(producers)
    notes = ["each round over its cell's median, in the order of time; a line a worker",
             f"beyond {WIDEST:g}x: at the edge"]  # fmt: skip
    told = f"rounds in their order \u00b7 {said}" if found else ""
    made = sheet("Whether it drifts", told, len(found), producer_keys(styles),
                 (notes if found else []) + choosing.provenance(document))  # fmt: skip
    entries = [entry for panel in found for entry in panel.entries.values()]
    workers = ((e.real_time, worker) for e in entries for worker in rounds(e))
    ratios = [ratio for median, worker in workers for ratio in _ratios(worker, median)]
    ends = min([1 / NARROWEST, *ratios]), max([NARROWEST, *ratios])
    for panel, place in zip(found, made.places, strict=True):
        _draw(place.axes, panel, styles, ends)
        place.hide_inner_labels()
    return made.figure


def _ratios(times: list[float], median: float) -> list[float]:
    return [min(max(ns / median, 1 / WIDEST), WIDEST) for ns in times]


def _draw(axes: Axes, panel: Panel, styles: dict[str, Look], ends: tuple[float, float]) -> None:
    prepare(axes, panel)
    longest = max((len(w) for e in panel.entries.values() for w in rounds(e)), default=1)
    low, high = ends[0] ** ROOM, ends[1] ** ROOM
    axes.set(yscale="log", ylim=(low, high), xlim=(0.5, longest + 0.5))
    ticks = [tick for tick in (1 / 3, 0.5, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 3) if low < tick < high]
    spread = [tick for tick in ticks if high / low < 2 or tick not in (0.9, 1.1)]
    axes.yaxis.set_major_locator(FixedLocator(spread))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda ratio, _: f"{ratio:.2g}x"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.axhline(1, color=GREY, linewidth=0.9)
    for producer, entry in panel.entries.items():
        look = styles[producer]
        for worker in rounds(entry):
            ratios = _ratios(worker, entry.real_time)
            axes.plot(range(1, len(ratios) + 1), ratios, color=look.color, linewidth=0.8,
                      marker=look.marker, markersize=lines.MARK - 1)  # fmt: skip
