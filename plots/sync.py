"""Synchronization: the share of a known delay for which export and import block the host."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter

from dlbench.document import Document, Entry, Sync
from dlbench.environments.environment import DEFAULT

from . import choosing
from .drawing import SMALL, text_width
from .forest import Forest, forest

MOST_ROWS = 60
#: Axes that are part of a row's label only if they differ from these defaults.
USUAL = {"protocol": "dlpack", "environment": DEFAULT}
#: Okabe and Ito's colors, as in the figure of the phases.
COLORS = {"export": "#d55e00", "import": "#0072b2"}
BAR = 0.62  # of a row
Row = tuple[Entry, Sync]


def has_sync(document: Document) -> bool:
    """Is there anything to draw?"""
    return any(entry.sync for entry in document.exchanges)


def figure(document: Document) -> Figure:
    """The figure, with one row for each cell and stream argument."""
    rows = [(entry, one) for entry in document.exchanges for one in entry.sync]
    shown = rows[:MOST_ROWS]
    telling = [
        axis for axis, usual in USUAL.items() if any(e.axis(axis) != usual for e, _ in shown)
    ]
    notes = ["share of a known delay of the producer's queue for which the call blocked the host"]
    if not all(one.is_of_consumer for _, one in shown):
        notes.append("stream in brackets: passed by dlbench, not by the consumer")
    notes += [f"{len(rows) - len(shown)} more are not shown"] if len(rows) > len(shown) else []
    made = forest("Synchronization", "share of the delay for which the host waits" if shown else "",
                  [_label(*row, telling) for row in shown], [_word(one) for _, one in shown],
                  (notes if shown else []) + choosing.provenance(document),
                  _why_empty(document))  # fmt: skip
    if made.axes is not None:
        _draw(made.axes, shown)
        _draw_key(made)
    return made.figure


def _why_empty(document: Document) -> str:
    if not choosing.has_numbers(document):
        return "nothing was measured"
    if document.run.request.sync:
        return "no exchange had a queue to test"
    return "no streams were tested: use --sync"


def _label(entry: Entry, one: Sync, telling: Sequence[str]) -> str:
    stream = f"stream {one.stream}"
    # An argument that dlbench passes is in brackets.
    stream = stream if one.is_of_consumer else f"({stream})"
    pair = f"{entry.producer} \u2192 {entry.consumer}"
    place = [] if one.reads_on == "own" else [f"on {one.reads_on}"]
    axes = (str(entry.axis(axis)) for axis in telling)
    return "  ".join([pair, *axes, entry.device, stream, *place])


def _word(one: Sync) -> str:
    data = f", {one.content} data read" if one.content else ""
    broken = ": against the text" if one.is_against_text else ""
    return f"{one.waits or one.code}{data}{broken}"


def _draw(axes: Axes, rows: list[Row]) -> None:
    axes.set_xlim(0, 1.05)
    axes.xaxis.set_major_locator(FixedLocator([0, 0.25, 0.5, 0.75, 1]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:.0f} %"))
    for index, (_, one) in enumerate(rows):
        x = 0.0
        for side, color in COLORS.items():
            wide = max(one.blocked[side] or 0.0, 0.0)
            corner = (x, index + (1 - BAR) / 2)
            axes.add_patch(Rectangle(corner, wide, BAR, facecolor=color, edgecolor="none"))
            x += wide


def _draw_key(made: Forest) -> None:
    x, y = made.key
    for side, color in COLORS.items():
        made.canvas.add_patch(Rectangle((x, y - 0.06), 0.24, 0.12, facecolor=color))
        made.canvas.text(x + 0.3, y, side, fontsize=SMALL + 1, va="center")
        x += 0.3 + text_width(side, SMALL + 1) + 0.25
