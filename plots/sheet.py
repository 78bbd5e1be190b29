"""A sheet of equal panels, one for each consumer, with a heading, a legend and notes."""

from __future__ import annotations

import math
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .drawing import MARGIN, page
from .scaling_panel import HIGH, WIDE
from .sheet_key import ROW, Key, draw_keys, rows_of

LEFT, GAP_X, GAP_Y = 0.72, 0.2, 0.42  # inches, as all measures here
HEADING, BOTTOM = 1.0, 0.34


@dataclass(frozen=True)
class Place:
    """The place of one panel. `first`: of its row. `last`: of its column."""

    axes: Axes
    first: bool
    last: bool

    def hide_inner_labels(self) -> None:
        """Makes the panel's axes; the panels share them, and only the outer ones are labeled."""
        self.axes.tick_params(labelleft=self.first, labelbottom=self.last)


@dataclass(frozen=True)
class Sheet:
    """The figure, and a place for each panel."""

    figure: Figure
    places: list[Place]


def sheet(title: str, subtitle: str, count: int, keys: list[Key], notes: list[str]) -> Sheet:
    """A sheet for `count` panels; with 0 it shows "nothing was measured"."""
    across = _across(count)
    down = math.ceil(count / across)
    width = max(LEFT + across * WIDE + (across - 1) * GAP_X + MARGIN, 6.0)
    key_rows = rows_of(keys, width - 2 * MARGIN)
    body = max(down * HIGH + (down - 1) * GAP_Y, 1.0) + BOTTOM
    made = page(title, subtitle, width, (HEADING, body, 0.08 + ROW * len(key_rows)), notes,
                "" if count else "nothing was measured")  # fmt: skip
    draw_keys(made.canvas, key_rows, MARGIN, made.bottom - 0.08)
    places = []
    for index in range(count):
        row, column = divmod(index, across)
        x = LEFT + column * (WIDE + GAP_X)
        y = made.top - HIGH - row * (HIGH + GAP_Y)
        axes = made.add_axes(x, y, WIDE, HIGH)
        places.append(Place(axes, column == 0, index + across >= count))
    return Sheet(made.figure, places)


def _across(count: int) -> int:
    """The number of panels in a row, at most five, chosen so that few places are empty."""
    if count <= 3:
        return max(count, 1)
    square = math.ceil(math.sqrt(count))
    return min({min(square, 5), min(square + 1, 5)}, key=lambda across: (-count % across, across))
