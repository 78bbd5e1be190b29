"""Calls: time by number of arrays, one panel for each producer, one line for each binding."""

from __future__ import annotations

import math

from matplotlib.figure import Figure

from dlbench import values
from dlbench.analysis import calls
from dlbench.document import Document
from dlbench.document.facts import native_first

from . import choosing, library_styles
from .drawing import GREY, MARGIN, SMALL, page

WIDE, HIGH = 3.2, 2.6  # inches, as all measures here
LEFT, GAP_X, GAP_Y, HEADING, BOTTOM, ROW = 0.72, 0.35, 0.5, 1.0, 0.5, 0.2
ACROSS = 3
MOST_PANELS = 12


def has_calls(document: Document) -> bool:
    return any(entry.protocol == calls.CALL for entry in choosing.measured(document))


def figure(document: Document) -> Figure:
    """The figure. A line is drawn from the fewest to the most arrays that were measured."""
    tables = [
        (key, [each for each in found if each.has_numbers])
        for key, found in calls.of_document(document)
    ]
    tables = [(key, found) for key, found in tables if found]
    left_out = max(len(tables) - MOST_PANELS, 0)
    tables = tables[:MOST_PANELS]
    bindings = native_first(each.binding for _, found in tables for each in found)
    styles = library_styles.of_all(bindings)
    across = max(min(ACROSS, len(tables)), 1)
    down = math.ceil(len(tables) / across)
    width = max(LEFT + across * WIDE + (across - 1) * GAP_X + MARGIN, 6.0)
    legend_rows = math.ceil(len(bindings) / ACROSS)
    body = max(down * HIGH + (down - 1) * GAP_Y, 1.0) + BOTTOM
    shown = [entry for _, found in tables for each in found for entry in each.measured.values()]
    lowest = min((entry.lo_ns for entry in shown), default=1.0) * 0.8
    highest = max((entry.hi_ns for entry in shown), default=1.0) * 1.25
    notes = [f"bars: interval ({values.interval(shown)})"] if shown else []
    notes += [f"{left_out} more tables: dlbench show RUN"] if left_out else []
    absent = "no calls were measured" if choosing.has_numbers(document) else "nothing was measured"
    made = page("Cost of a call by its number of arrays", "median host time until the call returns",
                width, (HEADING, body, 0.1 + ROW * legend_rows),
                notes + choosing.provenance(document), "" if tables else absent)  # fmt: skip
    for index, (key, found) in enumerate(tables):
        row, column = divmod(index, across)
        place = LEFT + column * (WIDE + GAP_X), made.top - HIGH - row * (HIGH + GAP_Y)
        axes = made.add_axes(*place, WIDE, HIGH)
        axes.set_title(calls.title(key, " \u00b7 ", ""), fontsize=SMALL + 2, loc="left")
        axes.set_yscale("log")
        axes.grid(color=GREY, alpha=0.2, linewidth=0.6)
        axes.set_xlabel("arrays", fontsize=SMALL)
        axes.set_ylim(lowest, highest)
        axes.minorticks_off()
        axes.yaxis.set_major_formatter(lambda ns, _: values.duration(ns))
        axes.tick_params(labelsize=SMALL, labelleft=column == 0)
        for each in found:
            points = sorted(each.measured.items())
            style = styles[each.binding]
            bars = [
                [max(entry.median_ns - entry.lo_ns, 0) for _, entry in points],
                [max(entry.hi_ns - entry.median_ns, 0) for _, entry in points],
            ]
            axes.errorbar([number for number, _ in points],
                          [entry.median_ns for _, entry in points], bars, color=style.color,
                          marker=style.marker, markersize=3.5, linewidth=1.1,
                          elinewidth=0.7)  # fmt: skip
    for index, name in enumerate(bindings):
        row, column = divmod(index, ACROSS)
        x = MARGIN + column * (width - 2 * MARGIN) / ACROSS
        y = made.bottom - 0.1 - ROW * (row + 0.5)
        made.canvas.plot([x, x + 0.3], [y, y], color=styles[name].color,
                         marker=styles[name].marker, markersize=3.5)  # fmt: skip
        made.canvas.text(x + 0.4, y, name, fontsize=SMALL, va="center")
    return made.figure
