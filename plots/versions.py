"""Versions: time over the releases of a library, one row for each exchange, with its steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dlbench import values
from dlbench.analysis import history
from dlbench.analysis.history import Segment
from dlbench.document import Document, Entry

from . import choosing
from .drawing import GREY, MARGIN, PALE, SMALL, page, shortened, text_width
from .ink import INK, PAPER

HEADING = 0.86  # inches, as all measures here
HIGH, GAP, WIDE = 0.5, 0.16, 0.42
LABEL = 8.0  # points
LONGEST_LABEL = 3.0
MOST_ROWS = 60
TILT = 60
SUBTITLE = "lowest round, median of workers; each row has its own scale"
NOTES = ("black: zero-copy; white: copy; grey: unproven; a word: no number, and why",
         "a line: a step of that kind between two versions")  # fmt: skip
#: Okabe and Ito's colors. A step also has its name, for color-blind readers.
STEPS = {"outcome": "#d55e00", "protocol": "#0072b2", "code": "#cc79a7", "time": "#e69f00",
         "layout": GREY}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One exchange over the versions."""

    label: str
    segments: Sequence[Segment]

    @property
    def entries(self) -> list[Entry]:
        return [entry for segment in self.segments for entry in segment.entries]


def names_of(document: Document) -> list[str]:
    """The versions of a run of `track`, oldest first."""
    if "default" in document.environments:
        return []
    return [text.partition("=")[0] for text in document.run.request.env]


def has_versions(document: Document) -> bool:
    """Is it a run of `track`?"""
    return len(names_of(document)) > 1


def figure(document: Document) -> Figure:
    """The figure: exchanges with a step first."""
    names = names_of(document)
    rows = [Row(_label(segments), segments) for segments in history.cells(document, names).values()]
    rows = [row for row in rows if len(row.segments) > 1 or any(map(history.times, row.entries))]
    rows.sort(key=lambda row: len(row.segments) == 1)
    left_out = [f"{len(rows) - MOST_ROWS} more exchanges are not drawn"] * (len(rows) > MOST_ROWS)
    rows = rows[:MOST_ROWS]
    room = max([1.0, *(min(text_width(row.label, LABEL), LONGEST_LABEL) for row in rows)])
    left = MARGIN + room + 0.12
    width = max(left + WIDE * len(names) + 0.9 + MARGIN, 6.5)
    head = max((text_width(name, SMALL) for name in names), default=0.5) * 0.87 + 0.24
    body = (HIGH + GAP) * len(rows) or 0.6
    notes = [*NOTES, *left_out, *choosing.provenance(document)]
    nothing = "" if rows else "nothing was measured"
    if choosing.has_numbers(document) and not names:
        nothing = "one version was measured: use dlbench track"
    made = page("Exchanges over versions", SUBTITLE, width, (HEADING + head, body, 0.2), notes,
                nothing)  # fmt: skip
    for index, name in enumerate(names):
        made.canvas.text(left + WIDE * (index + 0.45), made.top + 0.14, name, fontsize=SMALL,
                         rotation=TILT, rotation_mode="anchor", va="bottom")  # fmt: skip
    top = made.top
    for row in rows:
        made.canvas.text(left - 0.1, top - HIGH / 2, shortened(row.label, LABEL, LONGEST_LABEL),
                         fontsize=LABEL, ha="right", va="center")  # fmt: skip
        axes = made.add_axes(left, top - HIGH, WIDE * len(names), HIGH)
        ends = _draw(axes, row, names)
        made.canvas.text(left + WIDE * len(names) + 0.06, top - HIGH / 2, ends, fontsize=SMALL,
                         color=GREY, va="center")  # fmt: skip
        top -= HIGH + GAP
    return made.figure


def _label(segments: Sequence[Segment]) -> str:
    entry = segments[0].entries[0]
    words = [f"{entry.producer} -> {entry.consumer}", entry.protocol, entry.case]
    return " ".join([*words, values.size(entry.bytes)])


def _draw(axes: Axes, row: Row, names: Sequence[str]) -> str:
    """Draws a row; returns its first and last time."""
    place = {name: index for index, name in enumerate(names)}
    times = {place[entry.environment]: float(np.median(known))
             for entry in row.entries if (known := history.times(entry))}  # fmt: skip
    axes.set(xlim=(-0.5, len(names) - 0.5), yscale="log")
    low, high = min(times.values(), default=1.0), max(times.values(), default=1.0)
    # A row without a step is flat: its scatter must not look like one.
    spare = max(1.25, (high / low) ** 0.25)
    axes.set_ylim(low / spare, high * spare)
    axes.minorticks_off()
    axes.tick_params(left=False, bottom=False, labelleft=False, labelbottom=False)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(PALE)
    axes.plot(list(times), list(times.values()), color=INK, linewidth=0.8)
    for entry in row.entries:
        x = place[entry.environment]
        fill = {"zero-copy": INK, "unproven": PALE}.get(entry.observed_outcome, PAPER)
        if x in times:
            axes.add_line(Line2D([x], [times[x]], marker="o", markersize=3.5, color=INK,
                                 markerfacecolor=fill))  # fmt: skip
        else:
            axes.text(x, 0.5, entry.observed_outcome, fontsize=SMALL - 2, color=STEPS["outcome"],
                      ha="center", va="center", rotation=TILT,
                      transform=axes.get_xaxis_transform())  # fmt: skip
    for segment in row.segments[1:]:
        cut = place[segment.entries[0].environment] - 0.5
        axes.axvline(cut, color=STEPS[segment.kind], linewidth=1.0)
        axes.text(cut, 1.0, segment.kind, fontsize=SMALL - 1, color=GREY, ha="center",
                  va="bottom", transform=axes.get_xaxis_transform())  # fmt: skip
    if not times:
        return ""
    ends = (values.duration(times[at], times[at] / 100) for at in (min(times), max(times)))
    return " -> ".join(ends)
