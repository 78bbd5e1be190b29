"""Who waits for whom: for what share of a known delay the host was held, and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter

from dlbench.environments.environment import DEFAULT

from . import choosing
from .choosing import Document, Entry
from .drawing import text_width
from .forest import SMALL, Forest, forest

MOST_ROWS = 60
#: Axes that a row's label has only where not all rows are the usual.
USUAL = {"protocol": "dlpack", "environment": DEFAULT}
#: Okabe and Ito's colours, as the phases have them.
COLOURS = {"export": "#d55e00", "import": "#0072b2"}
BAR = 0.62  # of a row
Row = tuple[Entry, Mapping[str, Any]]


def has_sync(document: Document) -> bool:
    """Is there anything to draw?"""
    return any(entry.get("sync") for entry in choosing.exchanges(document))


def figure(document: Document) -> Figure:
    """A row a cell and stream argument."""
    rows = [(e, one) for e in choosing.exchanges(document) for one in e.get("sync") or ()]
    shown = rows[:MOST_ROWS]
    telling = [axis for axis, usual in USUAL.items() if any(e[axis] != usual for e, _ in shown)]
    notes = ["share of a known delay of the producer's queue for which the call held the host"]
    if any(one.get("asked_by") == "dlbench" for _, one in shown):
        notes.append("in brackets: a stream that the consumer does not pass by itself")
    notes += [f"{len(rows) - len(shown)} more are not shown"] if len(rows) > len(shown) else []
    made = forest("Who waits for whom", "host held, by export and by import" if shown else "",
                  [_label(*row, telling) for row in shown], [_word(one) for _, one in shown],
                  (notes if shown else []) + choosing.provenance(document),
                  _why_empty(document))  # fmt: skip
    if made.axes is not None:
        _draw(made.axes, shown)
        _draw_key(made)
    return made.figure


def _why_empty(document: Document) -> str:
    if not any(choosing.is_measured(entry) for entry in choosing.exchanges(document)):
        return "nothing was measured"
    if choosing.about(document).get("request", {}).get("sync"):
        return "no exchange had a queue to look at"
    return "no streams were looked at: --sync"


def _label(entry: Entry, one: Mapping[str, Any], telling: Sequence[str]) -> str:
    stream = "no stream" if one["stream"] is None else f"stream {one['stream']}"
    # What the consumer does not pass by itself stands in brackets.
    stream = f"({stream})" if one.get("asked_by") == "dlbench" else stream
    pair = f"{entry['producer']} \u2192 {entry['consumer']}"
    return "  ".join([pair, *(entry[axis] for axis in telling), entry["device"], stream])


def _word(one: Mapping[str, Any]) -> str:
    saw = f", saw {one['saw']}" if one.get("saw") else ""
    race = ": a race" if one.get("owed") and one.get("saw") == "old" else ""
    return f"{one.get('waits', 'refused')}{saw}{race}"


def _draw(axes: Axes, rows: list[Row]) -> None:
    axes.set_xlim(0, 1.05)
    axes.xaxis.set_major_locator(FixedLocator([0, 0.25, 0.5, 0.75, 1]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:.0f} %"))
    for index, (_, one) in enumerate(rows):
        x = 0.0
        for side, colour in COLOURS.items():
            wide = max(float(one.get(f"{side}_blocked") or 0.0), 0.0)
            corner = (x, index + (1 - BAR) / 2)
            axes.add_patch(Rectangle(corner, wide, BAR, facecolor=colour, edgecolor="none"))
            x += wide


def _draw_key(made: Forest) -> None:
    x, y = made.key
    for side, colour in COLOURS.items():
        made.canvas.add_patch(Rectangle((x, y - 0.06), 0.24, 0.12, facecolor=colour))
        made.canvas.text(x + 0.3, y, side, fontsize=SMALL + 1, va="center")
        x += 0.3 + text_width(side, SMALL + 1) + 0.25
