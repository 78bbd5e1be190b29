"""One producer's line in a panel of the scaling figure."""

from __future__ import annotations

from matplotlib.axes import Axes

from dlbench.document import Measured
from dlbench.document.facts import COPIED

from .ink import PAPER
from .library_styles import Style

WIDTH, MARK = 1.3, 3.6  # points
DASHED = (0, (3.0, 1.6))
LEAST = 0.1  # ns; an interval is cut off below it, because a logarithm has no zero


def draw(axes: Axes, entries: list[Measured], style: Style) -> None:
    """The entries of one exchange by bytes; dashed and hollow where the array was copied."""
    entries = sorted(entries, key=lambda entry: entry.bytes)
    sizes = [entry.bytes for entry in entries]
    times = [entry.real_time for entry in entries]
    low = [max(entry.lo_ns, LEAST) for entry in entries]
    high = [entry.hi_ns for entry in entries]
    copied = [entry.outcome in COPIED for entry in entries]
    axes.fill_between(sizes, low, high, color=style.color, alpha=0.18, linewidth=0)
    if len(entries) == 1:
        axes.vlines(sizes, low, high, color=style.color, alpha=0.4, linewidth=2)
    for i in range(1, len(entries)):
        axes.plot(sizes[i - 1 : i + 1], times[i - 1 : i + 1], color=style.color, linewidth=WIDTH,
                  linestyle=DASHED if copied[i] else "-", solid_capstyle="round")  # fmt: skip
    for size, time, is_copy in zip(sizes, times, copied, strict=True):
        axes.plot([size], [time], marker=style.marker, markersize=MARK, color=style.color,
                  markerfacecolor=PAPER if is_copy else style.color, markeredgewidth=0.9,
                  linestyle="none")  # fmt: skip
