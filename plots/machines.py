"""Machines: the time of each exchange on each machine, relative to one machine."""

from __future__ import annotations

import math

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from dlbench import values
from dlbench.analysis.machines import Exchange, exchanges
from dlbench.document import Document

from . import choosing, library_styles
from .change import ticks
from .drawing import SMALL, text_width
from .forest import WIDE, Forest, forest
from .ink import INK
from .library_styles import Style

MOST_ROWS = 60
#: Axes that are part of a row's label only if they differ between rows.
FURTHER = ("environment", "protocol", "device", "case")


def has_machines(document: Document) -> bool:
    """Did two machines measure the same exchange?"""
    return bool(document.machines) and any(e.ratios for e in exchanges(document))


def figure(document: Document, relative_to: str = "") -> Figure:
    """The figure, with one marker for each machine; the largest differences first."""
    base = relative_to or next(iter(document.machines), "")
    found = [each for each in exchanges(document, base) if each.ratios] if base else []
    found.sort(key=lambda each: (-_size(each), each.base.name))
    shown = found[:MOST_ROWS]
    others = [name for name in document.machines if name != base]
    styles = library_styles.of_all(others)
    notes = [f"number at the right of a row: the time on {base}"] if shown else []
    notes += [f"{len(found) - len(shown)} more are not shown"] if len(found) > len(shown) else []
    subtitle = f"time of one exchange, relative to {base}" if shown else ""
    times = [values.time(each.base) for each in shown]
    notes += choosing.provenance(document)
    nothing = _nothing(document)
    made = forest("Machines side by side", subtitle, _labels(shown), times, notes, nothing)
    if made.axes is not None:
        _draw(made.axes, shown, styles)
        _draw_key(made, styles)
    return made.figure


def _nothing(document: Document) -> str:
    measured = choosing.has_numbers(document)
    return "no exchange was measured on two machines" if measured else "nothing was measured"


def _size(each: Exchange) -> float:
    return max(abs(math.log(ratio)) for ratio in each.ratios.values())


def _labels(shown: list[Exchange]) -> list[str]:
    telling = [a for a in FURTHER if len({each.base.axis(a) for each in shown}) > 1]
    return [
        "  ".join([f"{each.base.producer} \u2192 {each.base.consumer}",
                   *(str(each.base.axis(axis)) for axis in telling),
                   values.size(each.base.bytes)])
        for each in shown
    ]  # fmt: skip


def _draw(axes: Axes, shown: list[Exchange], styles: dict[str, Style]) -> None:
    most = max(1.25, *(math.exp(_size(each)) for each in shown)) ** 1.08
    axes.set(xscale="log", xlim=(1 / most, most))
    axes.axvline(1, color=INK, linewidth=0.8)
    axes.xaxis.set_major_locator(FixedLocator(ticks(most)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda ratio, _: f"{ratio:.3g}x"))
    axes.xaxis.set_minor_locator(NullLocator())
    for row, each in enumerate(shown):
        for name, ratio in each.ratios.items():
            axes.plot([ratio], [row + 0.5], marker=styles[name].marker, markersize=5.5,
                      color=styles[name].color, alpha=0.85, linestyle="none")  # fmt: skip


def _draw_key(made: Forest, styles: dict[str, Style]) -> None:
    """Draws the key below the axis, with as many machines as fit."""
    x, y = made.key
    end = x + WIDE - text_width("and 99 more", SMALL + 1)
    for index, (name, look) in enumerate(styles.items()):
        if x + 0.25 + text_width(name, SMALL + 1) > end:
            made.canvas.text(x, y, f"and {len(styles) - index} more", fontsize=SMALL + 1,
                             va="center")  # fmt: skip
            return
        made.canvas.plot([x + 0.1], [y], marker=look.marker, color=look.color, markersize=5.5,
                         linestyle="none")  # fmt: skip
        made.canvas.text(x + 0.25, y, name, fontsize=SMALL + 1, va="center")
        x += 0.25 + text_width(name, SMALL + 1) + 0.3
