"""One producer's line in a panel of the scaling figure."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.axes import Axes

from dlbench import values
from dlbench.document import Measured

from .ink import PAPER

#: Okabe and Ito's colours, told apart by people who see fewer; then their dark shades. The marker
#: differs as well.
COLOURS = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#6f6f6f"),
    *("#00345c", "#7a2f00", "#00523b", "#7d2c58", "#866000", "#1b6f96", "#452d6b", "#2b2b2b"),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
WIDTH, MARK = 1.3, 3.6  # points
COPIED = (0, (3.0, 1.6))
LEAST = 0.1  # ns; below it an interval is cut off, a logarithm has no zero


@dataclass(frozen=True)
class Style:
    """How a producer looks in every panel."""

    colour: str
    marker: str


def styles(producers: list[str]) -> dict[str, Style]:
    return {
        name: Style(COLOURS[i % len(COLOURS)], MARKERS[(i + i // len(MARKERS)) % len(MARKERS)])
        for i, name in enumerate(producers)
    }


def draw(axes: Axes, entries: list[Measured], style: Style) -> None:
    """Entries of one exchange by bytes. Dashed and hollow where the array was copied."""
    entries = sorted(entries, key=lambda entry: entry.bytes)
    sizes = [entry.bytes for entry in entries]
    times = [entry.real_time for entry in entries]
    low = [max(entry.lo_ns, LEAST) for entry in entries]
    high = [entry.hi_ns for entry in entries]
    copied = [entry.outcome in values.COPIED for entry in entries]
    axes.fill_between(sizes, low, high, color=style.colour, alpha=0.18, linewidth=0)
    if len(entries) == 1:
        axes.vlines(sizes, low, high, color=style.colour, alpha=0.4, linewidth=2)
    for i in range(1, len(entries)):
        axes.plot(sizes[i - 1 : i + 1], times[i - 1 : i + 1], color=style.colour, linewidth=WIDTH,
                  linestyle=COPIED if copied[i] else "-", solid_capstyle="round")  # fmt: skip
    for size, time, is_copy in zip(sizes, times, copied, strict=True):
        axes.plot([size], [time], marker=style.marker, markersize=MARK, color=style.colour,
                  markerfacecolor=PAPER if is_copy else style.colour, markeredgewidth=0.9,
                  linestyle="none")  # fmt: skip
